"""How a tool of another platform is shown to a hook of this one, and how changes come back.

Names alone do not tell whose a tool is: several platforms have a `shell` or a `write_file`, each
with keys of its own, and a hook that looks under its platform's key must find something there.
"""

from collections.abc import Mapping
from typing import Any

from hookline.model.tools import Tool, ToolTable

__all__ = ["changes", "shown"]


def shown(table: ToolTable, native: str, tool: Tool) -> tuple[dict[str, Any], Mapping[str, str]]:
    """A tool's input under the keys of ``native``, and the canonical names of those keys."""
    row = table.rows.get(native)
    keys = row.keys if row is not None else {}
    known = {name: value for name in keys if (value := getattr(tool, name, None))}
    if all(keys[name] in tool.input for name in known):
        return tool.input, {}
    return (
        {keys[name]: value for name, value in known.items()},
        {keys[name]: name for name in known},
    )


def changes(
    sent: Mapping[str, Any], names: Mapping[str, str], new: Mapping[str, Any], *, whole: bool
) -> dict[str, Any]:
    """What ``new`` changes in what was shown; where it is the whole, what is not in it goes."""
    gone = {names.get(key, key): None for key in sent if key not in new} if whole else {}
    kept = {names.get(k, k): v for k, v in new.items() if k not in sent or sent[k] != v}
    return {**gone, **kept}
