"""Runs every comparison and prints the table; exit 1 when a figure is missed."""

import argparse
import platform
import sys

import msgspec

from bench import commands, config_load, dispatch, memory, stream
from bench.measure import Ratio

SUITES = {"dispatch": dispatch, "commands": commands, "config": config_load, "memory": memory}


def line(entry: Ratio) -> str:
    """One row of the Markdown table."""
    return (
        f"| {entry.what} | {entry.ours_us:,.1f} | {entry.against} | {entry.theirs_us:,.1f} "
        f"| {entry.ratio:.2f} | ≤ {entry.limit:g} | {'yes' if entry.holds else 'NO'} |"
    )


def main() -> int:
    """Prints a table for people, or JSON."""
    parser = argparse.ArgumentParser(prog="bench")
    parser.add_argument("suites", nargs="*", help=f"some of: {', '.join(SUITES)}; default all")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    chosen = options.suites or list(SUITES)
    results = [entry for name in chosen for entry in SUITES[name].run()]
    if options.json:
        rows = [{**msgspec.to_builtins(entry), "ratio": entry.ratio} for entry in results]
        print(msgspec.json.encode(rows).decode())
    else:
        print(f"{platform.python_implementation()} {platform.python_version()}, medians in µs\n")
        print("| hookline | µs | against | µs | ratio | limit | holds |")
        print("|---|--:|---|--:|--:|--:|---|")
        print("\n".join(map(line, results)))
        if not options.suites:
            print(f"\n{stream.run()}")
    return 0 if all(entry.holds for entry in results) else 1


if __name__ == "__main__":
    sys.exit(main())
