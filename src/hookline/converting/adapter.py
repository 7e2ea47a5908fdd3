"""The command line of ``hookline adapt``: what it says of an entry, and a shell line round it.

The words are read back by the command itself; a test keeps both sides equal.
"""

import json
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from hookline.model.native import NativeEntry
from hookline.model.outcome import Reply

__all__ = ["PROGRAM", "Adapted", "guarded", "words"]

PROGRAM = ("hookline",)
"""By name: a converted file is made to be shared, and other machines have other paths."""

# "$@" is the adapter. Any exit code but those it answers with means that it did not run, and a
# gate that nobody judged stays closed in the platform's own words. There is no single quote,
# backslash or exclamation mark in here, so every shell people log in with hands it on as it is.
_GUARDED = (
    'o=$1 e=$2 c=$3 p=$4; shift 4; r=$("$@"); s=$?; '
    '[ $s = 0 ] || [ $s = $p ] || { r=$o s=$c; [ -z "$e" ] || echo "$e" >&2; }; '
    '[ -z "$r" ] || { printf %s "$r"; echo; }; exit $s'
)


class Adapted(Struct, frozen=True, kw_only=True):
    """What an adapter has to know of one entry."""

    origin: str
    target: str
    on: str
    """The event of the new platform."""
    entry: NativeEntry
    matchers: tuple[str, ...] = ()
    """Any of these will do; empty for everything."""
    file: str = ""
    """The old file, where its place says how its hooks run."""


def words(adapted: Adapted) -> tuple[str, ...]:
    """The whole command line."""
    entry = adapted.entry
    given: list[tuple[str, str]] = [
        ("--from", adapted.origin),
        ("--event", entry.event),
        ("--to", adapted.target),
        ("--on", adapted.on),
        *(("--matcher", each) for each in adapted.matchers),
        ("--if", entry.condition),
        ("--name", entry.name),
        ("--agent", entry.agent),
        ("--timeout", "" if entry.timeout is None else f"{entry.timeout:g}"),
        ("--cwd", entry.directory),
        *(("--env", f"{name}={value}") for name, value in entry.env.items()),
        ("--fails", {None: "", True: "closed", False: "open"}[entry.fails_closed]),
        ("--type", "" if entry.type == "command" else entry.type),
        ("--url", entry.url),
        ("--options", _json(entry.options)),
        ("--file", adapted.file),
    ]
    flags = [
        *(["--background"] if entry.background else []),
        *(["--exec"] if not isinstance(entry.command, str) else []),
    ]
    command = entry.command if not isinstance(entry.command, str) else (entry.command,)
    said = [pair for pair in given if pair[1] or pair[0] == "--matcher"]
    pairs = [word for pair in said for word in pair]
    return (*PROGRAM, "adapt", *pairs, *flags, "--", *(command if entry.command else ()))


def _json(options: Mapping[str, Any]) -> str:
    return json.dumps(options, ensure_ascii=False, sort_keys=True) if options else ""


def guarded(call: Sequence[str], refusal: Reply, *, two_denies: bool) -> str:
    """A line for any shell, which refuses for the adapter when that does not run.

    ``two_denies`` tells whether the platform takes an exit code of 2 for a deny.
    """
    said = (refusal.stdout.decode().strip(), refusal.stderr.decode().strip())
    codes = (str(refusal.exit_code), "2" if two_denies else "0")
    return shlex.join(("/bin/sh", "-c", _GUARDED, "hookline", *said, *codes, *call))
