"""How MCP servers, their tools and what changed about them look to people.

All of it is a server's or a repository's own words: nothing in it may act on a terminal.
"""

from collections.abc import Iterator, Mapping, Sequence

import click

from hookline.model.text import visible
from hookline.pinning.definitions import Definition
from hookline.pinning.pins import Change, Pin

__all__ = ["as_json", "shown_changes", "shown_pin", "shown_servers"]

_COLOURS = {"pinned": "green", "not pinned": "yellow", "defined otherwise": "red"}
_LONGEST = 160


def shown_servers(
    servers: Sequence[Definition], states: Mapping[int, str] | None = None
) -> Iterator[str]:
    """Each server: who knows it, and what would be started or called."""
    for each in servers:
        state = states.get(id(each), "") if states else ""
        word = click.style(f"{state:<17} ", fg=_COLOURS.get(state)) if state else ""
        clients = ", ".join(each.clients)
        yield f"{word}{click.style(_line(each.name), bold=True)} ({clients}, {_line(each.file)})"
        yield f"    {_line(each.origin)}"


def shown_pin(pin: Pin, changes: Sequence[Change], *, known: bool) -> Iterator[str]:
    """One server with its tools: all of them when it is new, else what is different."""
    yield click.style(_line(pin.name), bold=True) + f": {len(pin.tools)} tools"
    yield f"  {_line(pin.origin)}"
    if known:
        yield from ("  as pinned",) if not changes else shown_changes(changes)
        return
    for name, tool in pin.tools.items():
        yield f"  {click.style(_line(name), fg='cyan')}"
        # All of it: what is not shown nobody can have said yes to.
        yield from (f"    {line}" for line in visible(tool.text).splitlines())


def shown_changes(changes: Sequence[Change]) -> Iterator[str]:
    """Every change, with the lines that came and went."""
    for each in changes:
        what = f"{_line(each.server)}" + (f".{_line(each.tool)}" if each.tool else "")
        yield f"{click.style(each.kind, fg='red' if each.is_told else 'yellow')}  {what}"
        for line in visible(each.text).splitlines():
            colour = {"+": "green", "-": "red"}.get(line[:1])
            yield "    " + (click.style(line, fg=colour) if colour else line)


def as_json(pin: Pin) -> dict[str, object]:
    """A pin for programs."""
    return {
        "server": pin.name,
        "clients": pin.clients,
        "project": pin.project,
        "origin": pin.origin,
        "tools": {name: tool.sha256 for name, tool in pin.tools.items()},
    }


def _line(text: str) -> str:
    line = " ".join(visible(text).split(" ")).replace("\n", "␊").replace("\t", " ")
    return line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"
