"""Runs every comparison and prints the tables; exit 1 when a figure is missed."""

import argparse
import platform
import signal
import sys
from collections.abc import Callable

import msgspec

from bench.report import Report, as_json, markdown


def main() -> int:
    """Prints tables for people, or JSON."""
    parser = argparse.ArgumentParser(prog="bench")
    parser.add_argument("suites", nargs="*", help=f"some of: {', '.join(SUITES)}; default all")
    parser.add_argument("--json", action="store_true", help="with every timing")
    parser.add_argument("--long", action="store_true", help="memory over 100,000 events")
    options = parser.parse_args()
    unknown = [name for name in options.suites if name not in SUITES]
    if unknown:
        parser.error(f"there is no suite {unknown[0]}; there are {', '.join(SUITES)}")
    # Told to end, it still ends the daemons it has started.
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    reports = []
    for name in options.suites or SUITES:
        print(f"{name} …", file=sys.stderr, flush=True)
        reports.append(SUITES[name](options.long))
    if options.json:
        print(msgspec.json.encode(as_json(reports)).decode())
    else:
        print(f"{platform.python_implementation()} {platform.python_version()}, medians in µs\n")
        print(markdown(reports))
    held = [entry.holds for report in reports for entry in report.ratios]
    return 0 if all(held) else 1


def _dispatch(_: bool) -> Report:
    from bench import dispatch

    return Report(ratios=dispatch.run())


def _commands(_: bool) -> Report:
    from bench import commands

    return Report(ratios=commands.run())


def _config(_: bool) -> Report:
    from bench import config_load

    return Report(ratios=config_load.run())


def _memory(_: bool) -> Report:
    from bench import memory

    return Report(ratios=memory.run())


def _redaction(_: bool) -> Report:
    from bench import redaction

    return Report(ratios=redaction.run())


def _guards(_: bool) -> Report:
    from bench import guards

    return Report(ratios=guards.run())


def _warm(_: bool) -> Report:
    from bench import warm

    return warm.run()


def _peers(_: bool) -> Report:
    from bench import peers

    return peers.run()


def _load(long: bool) -> Report:
    from bench import load

    return load.run(long=long)


def _agents(_: bool) -> Report:
    from bench import agents

    return agents.run()


def _stream(_: bool) -> Report:
    from bench import stream

    return Report(notes=[stream.run()])


# Each imports what it needs when its turn comes: what one suite loads must not weigh on another.
SUITES: dict[str, Callable[[bool], Report]] = {
    "dispatch": _dispatch,
    "commands": _commands,
    "config": _config,
    "memory": _memory,
    "redaction": _redaction,
    "guards": _guards,
    "warm": _warm,
    "peers": _peers,
    "load": _load,
    "agents": _agents,
    "stream": _stream,
}


if __name__ == "__main__":
    sys.exit(main())
