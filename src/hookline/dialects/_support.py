"""Reads a dialect's support table.

People write it in ``support.toml``; what is read is the JSON that ``make generate`` makes of it,
because an agent waits meanwhile.
"""

import os
from collections.abc import Mapping
from typing import Any

import msgspec

from hookline.model.support import CELLS, EventSupport, Support

__all__ = ["load_support"]

_OWN = {"event", "source"}


def load_support(folder: str) -> Support:
    """The support table in the folder of a dialect's ``__file__``."""
    with open(os.path.join(os.path.dirname(folder), "support.json"), "rb") as file:
        table = msgspec.json.decode(file.read())
    events = {
        native: _row(native, row, table.get("defaults", {}))
        for native, row in table.pop("events").items()
    }
    table.pop("defaults", None)
    beyond = tuple(table.pop("beyond", ()))
    return Support(events=events, beyond=beyond, **table)


def _row(native: str, row: Mapping[str, Any], defaults: Mapping[str, str]) -> EventSupport:
    said = {key: value for key, value in row.items() if key not in _OWN}
    cells = {cell: said.pop(cell, defaults.get(cell, "none")) for cell in CELLS}
    # A cell that only some events have, such as allow, is left out where it means nothing.
    known = {cell: value for cell, value in cells.items() if value != "none" or cell in row}
    return EventSupport(
        native=native, event=row["event"], cells={**known, **said}, source=row.get("source", "")
    )
