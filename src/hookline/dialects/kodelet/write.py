"""Kodelet's hooks, written from entries: one executable for each, which says what it is for."""

import re
from collections.abc import Mapping, Sequence

from hookline.dialects._write import COMMENT, Writer
from hookline.dialects.kodelet.files import FILES
from hookline.model.native import NativeEntry

__all__ = ["WRITER", "KodeletWriter"]

_SCRIPT = """#!/bin/sh
# {comment}
case "$1" in
hook) echo {event} ;;
run)
  {command}
  ;;
*) exit 1 ;;
esac
"""
_ODD = re.compile(r"[^a-z0-9]+")


class KodeletWriter(Writer):
    """Programs have no settings, so neither matcher nor timeout has a place."""

    path = ".kodelet/hooks"
    says = frozenset({"sequential"})
    notes = frozenset({"ours"})

    def granted(self, event: str, seconds: float) -> float:
        """The same for every hook."""
        return FILES.default_timeout

    def write(self, entries: Sequence[NativeEntry]) -> Mapping[str, bytes]:
        """Kodelet runs them by name, so names begin with their number."""
        width = len(str(len(entries)))
        return {
            f"{self.path}/{number:0{width}}-{_ODD.sub('-', entry.event)}": _script(entry)
            for number, entry in enumerate(entries, 1)
        }


def _script(entry: NativeEntry) -> bytes:
    comment = " ".join(str(entry.options.get(COMMENT, "")).split()) or "written by hookline"
    text = _SCRIPT.format(comment=comment, event=entry.event, command=entry.command)
    return text.encode(errors="surrogateescape")


WRITER = KodeletWriter()
