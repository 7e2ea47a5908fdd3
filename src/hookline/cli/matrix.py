"""``hookline matrix``: what works on which platform, and how that is known: every platform's
support table side by side, for the terminal, as data and as Markdown.
"""

from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from typing import Any, Literal

import click
import msgspec
from msgspec import Struct

from hookline import registry
from hookline.cli._output import print_json
from hookline.doctoring.coverage import cover_on
from hookline.model.coverage import HookCoverage
from hookline.model.events import EVENTS
from hookline.model.hook import HandlerSpec, Hook
from hookline.model.support import EventSupport, Support

__all__ = [
    "CAPABILITIES",
    "FIRES",
    "MARKS",
    "STATES",
    "TOPICS",
    "Cell",
    "Platform",
    "Proof",
    "Proofs",
    "Recording",
    "as_markdown",
    "builtin_rows",
    "capability_rows",
    "coloured",
    "command",
    "event_rows",
    "list_all",
    "platforms",
]

# Beside the cells of an event: that it reaches us at all.
FIRES = "fires"

# What can be shown of a platform and is no cell of an event; `failure.daemon-killed` is one.
TOPICS = (
    *("install", "uninstall", "trusted", "untrusted", "failure", "daemon", "several", "limits"),
    *("mcp", "subagent", "patch", "resume", "compaction", "continuation", "secrets", "verify"),
)

_State = Literal["proven", "recorded", "specified", "unknown"]
STATES: tuple[_State, ...] = ("proven", "recorded", "specified", "unknown")


class Proof(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Tests that showed one claim on one version of a real client."""

    claim: str
    client: str
    """As the lab calls it."""
    version: str
    tests: tuple[str, ...]


class Proofs(Struct, frozen=True, forbid_unknown_fields=True):
    """All that was shown of a platform; ``evidence.toml`` in its dialect."""

    proven: tuple[Proof, ...] = ()
    """Cells of the support table."""
    also: tuple[Proof, ...] = ()
    """What no cell stands for."""

    def find(self, claim: str) -> Proof | None:
        """The proof of a cell."""
        return next((proof for proof in self.proven if proof.claim == claim), None)


class Recording(Struct, frozen=True, forbid_unknown_fields=True):
    """What sessions of one version of a client showed that were recorded elsewhere."""

    fires: tuple[str, ...]
    """The native events."""
    sessions: Mapping[str, tuple[str, ...]]
    """By session the cells, as ``pre_tool_use.deny``; only what a hook said and the client did."""


class Evidence(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How one cell is known."""

    state: _State
    client: str = ""
    version: str = ""
    test: str = ""
    more: tuple[str, ...] = ()
    """Further tests that show the same."""
    source: str = ""


def _claimed(native: str, cell: str, value: str = "yes") -> str:
    """What a test says it proves: ``PreToolUse.deny``, and ``PreToolUse.halt=latch`` for what
    is said instead.

    The value is part of it, so that a cell which comes to mean something else is proven no more.
    """
    return f"{native}.{cell}" if value == "yes" else f"{native}.{cell}={value}"


def evidence(
    support: Support,
    row: EventSupport,
    cell: str,
    proofs: Proofs,
    recorded: Mapping[str, Recording] | None = None,
) -> Evidence:
    """How a cell of an event is known."""
    value = "yes" if cell == FIRES else row.instead(cell)
    proof = proofs.find(_claimed(row.native, cell, value))
    if proof is not None and proof.tests:
        first, *more = proof.tests
        return Evidence(
            state="proven",
            client=support.client,
            version=proof.version,
            test=first,
            more=tuple(more),
        )
    versions, sessions = _seen(_claimed(row.native, cell, value), recorded or {})
    if versions:
        return Evidence(
            state="recorded",
            client=support.client,
            version=", ".join(versions),
            more=tuple(sessions),
        )
    if row.source.strip():
        return Evidence(state="specified", source=row.source)
    return Evidence(state="unknown")


def _seen(claim: str, recorded: Mapping[str, Recording]) -> tuple[list[str], list[str]]:
    """The versions whose recorded sessions show a claim, and those sessions."""
    native, _, cell = claim.rpartition(".")
    versions: list[str] = []
    found: list[str] = []
    for version, each in recorded.items():
        sessions = [name for name, claims in each.sessions.items() if claim in claims]
        if sessions or (cell == FIRES and native in each.fires):
            versions.append(version)
            found += sessions
    return versions, found


# (what a person wants, canonical event, cell)
CAPABILITIES: tuple[tuple[str, str, str], ...] = (
    ("deny a tool", "pre_tool_use", "deny"),
    ("ask before a tool", "pre_tool_use", "ask"),
    ("allow a tool", "pre_tool_use", "allow"),
    ("rewrite a tool's input", "pre_tool_use", "input"),
    ("context beside a tool call", "pre_tool_use", "context"),
    ("answer a permission request", "permission_request", "deny"),
    ("context after a tool", "post_tool_use", "context"),
    ("hide a tool's output", "post_tool_use", "deny"),
    ("replace a tool's output", "post_tool_use", "output"),
    ("block a prompt", "user_prompt_submit", "deny"),
    ("context on a prompt", "user_prompt_submit", "context"),
    ("rewrite a prompt", "user_prompt_submit", "prompt"),
    ("context at session start", "session_start", "context"),
    ("keep going after stop", "stop", "follow_up"),
    ("keep a sub-agent going", "subagent_stop", "follow_up"),
    ("veto compaction", "pre_compact", "deny"),
    ("end the run at a tool", "pre_tool_use", "halt"),
)

# Behind the value, for whoever sees no colours.
MARKS: Mapping[_State, str] = {"proven": " ✓", "recorded": " ○", "specified": "", "unknown": " ?"}


class Cell(Struct, frozen=True):
    """What is said in one cell, and how it is known."""

    value: str
    evidence: Evidence | None = None
    """None where the platform has no such event, and so nothing is _claimed."""

    def __str__(self) -> str:
        return self.value + (MARKS[self.evidence.state] if self.evidence else "")


class Platform(Struct, frozen=True):
    """A platform's support table, and what was shown of it."""

    support: Support
    proofs: Proofs = Proofs()
    installed: frozenset[str] = frozenset()
    """The native events that ``hookline install`` writes; empty where it writes none."""
    recorded: Mapping[str, Recording] = {}
    """By version, what recorded sessions showed of it."""
    unheard: Mapping[str, str] = {}
    """The native events that it does not write, and why."""

    def rows(self, event: str) -> list[EventSupport]:
        """The native events that are this canonical one."""
        return [row for row in self.support.events.values() if row.event == event]

    def known(self, rows: Sequence[EventSupport], cell: str) -> Evidence:
        """How a cell is known on all of these events: as well as on the least known of them.

        An event that goes by two names is asked under the one that is installed.
        """
        used = [row for row in rows if row.native in self.installed] or rows
        found = [evidence(self.support, row, cell, self.proofs, self.recorded) for row in used]
        return max(found, key=lambda each: STATES.index(each.state))

    def cells(self) -> Iterator[tuple[str, str, Cell]]:
        """Every claim of the table: native event, cell, and what is said there."""
        for native, row in self.support.events.items():
            for cell, value in {FIRES: "yes", **row.cells}.items():
                yield native, cell, Cell(value, self.known([row], cell))

    def counts(self) -> dict[_State, int]:
        """How many cells are known in which way."""
        found = [cell.evidence.state for _, _, cell in self.cells() if cell.evidence]
        return {state: found.count(state) for state in STATES}


def platforms() -> list[Platform]:
    """Every platform but our own contract."""
    return [_platform(name) for name in registry.dialect_names() if name != "canonical"]


def _platform(name: str) -> Platform:
    folder = files("hookline.dialects").joinpath(name.replace("-", "_"))
    file, traces = folder.joinpath("evidence.toml"), folder.joinpath("recorded.toml")
    proofs = msgspec.toml.decode(file.read_bytes(), type=Proofs) if file.is_file() else Proofs()
    installs = name in registry.installer_names()
    installed = frozenset(registry.installer(name).events()) if installs else frozenset[str]()
    recorded = (
        msgspec.toml.decode(traces.read_bytes(), type=dict[str, Recording])
        if traces.is_file()
        else {}
    )
    support, unheard = registry.dialect(name).support, registry.unheard(name)
    return Platform(support, proofs, installed, recorded, unheard)


def event_rows(known: Sequence[Platform]) -> Iterator[tuple[str, list[Cell]]]:
    """For each canonical event that some platform has: its native names there."""
    for event in EVENTS:
        cells = [_names(platform, event) for platform in known]
        if any(cell.evidence for cell in cells):
            yield event, cells


def _names(platform: Platform, event: str) -> Cell:
    rows = platform.rows(event)
    if not rows:
        return Cell("—")
    return Cell(", ".join(row.native for row in rows), platform.known(rows, FIRES))


def capability_rows(known: Sequence[Platform]) -> Iterator[tuple[str, list[Cell]]]:
    """For each capability: yes, what is said instead, or — where there is no such event."""
    for what, event, cell in CAPABILITIES:
        yield what, [_capability(platform, event, cell) for platform in known]


def _capability(platform: Platform, event: str, cell: str) -> Cell:
    rows = platform.rows(event)
    if not rows:
        return Cell("—")
    said = list(dict.fromkeys("yes" if row.can(cell) else row.instead(cell) for row in rows))
    words = ["no" if word == "none" else word for word in said]
    value = " / ".join(sorted(words, key=lambda word: word != "yes"))
    return Cell(value, platform.known(rows, cell))


def builtin_rows(known: Sequence[Platform]) -> Iterator[tuple[str, list[HookCoverage]]]:
    """For each builtin on its own events: how it fires on each platform."""
    for name in registry.builtin_names():
        handler = HandlerSpec("builtin", {"use": name})
        hook = Hook(name=name, events=registry.builtin(name).EVENTS, handler=handler)
        yield name, [cover_on(hook, each.support, each.unheard) for each in known]


def _say(covered: HookCoverage, *, why: bool = False) -> str:
    words = ["derived"] * (covered.fires == "derived")
    words += [covered.effect] * (covered.effect not in {"", "yes"})
    if covered.why:
        return f"no ({covered.why})" if why else "no"
    return ", ".join(words) or "yes"


def list_all(known: Sequence[Platform]) -> dict[str, Any]:
    """The whole matrix as data."""
    ids = [each.support.id for each in known]
    return {
        "platforms": [_summary(each) for each in known],
        "events": {event: dict(zip(ids, cells, strict=True)) for event, cells in event_rows(known)},
        "capabilities": {
            what: dict(zip(ids, cells, strict=True)) for what, cells in capability_rows(known)
        },
        "builtins": {
            name: dict(zip(ids, cells, strict=True)) for name, cells in builtin_rows(known)
        },
        "cells": {each.support.id: _cells(each) for each in known},
    }


def _summary(platform: Platform) -> dict[str, Any]:
    support = platform.support
    named = {"id": support.id, "client": support.client, "version": support.version}
    return {
        **named,
        "evidence": platform.counts(),
        "also_proven": platform.proofs.also,
        "beyond": platform.support.beyond,
    }


def _cells(platform: Platform) -> dict[str, dict[str, Any]]:
    table: dict[str, dict[str, Any]] = {
        native: {"event": row.event, "source": row.source}
        for native, row in platform.support.events.items()
    }
    for native, name, cell in platform.cells():
        table[native][name] = cell
    return table


def as_markdown(known: Sequence[Platform]) -> str:
    """Tables: capabilities × platforms, how much is proven, events × platforms."""
    heads = [each.support.id for each in known]
    builtins = list(builtin_rows(known))
    parts = (
        _table("capability", heads, capability_rows(known)),
        _counts(known),
        _table("event", heads, event_rows(known)),
        _table("builtin", heads, ((n, [Cell(_say(e)) for e in row]) for n, row in builtins)),
        "".join(f"- {name}: {each.why}.\n" for name, row in builtins for each in row if each.why),
    )
    versions = ", ".join(f"{each.support.client} {each.support.version}" for each in known)
    beyond = [
        f"- {each.support.client}: {sentence}\n"
        for each in known
        for sentence in each.support.beyond
    ]
    head = "\nOut of any hook's reach:\n\n" if beyond else ""
    return "\n".join(parts) + head + "".join(beyond) + f"\nWritten for: {versions}.\n"


def _table(corner: str, heads: Sequence[str], rows: Iterator[tuple[str, list[Cell]]]) -> str:
    lines = [f"| {corner} | {' | '.join(heads)} |", "|---" * (len(heads) + 1) + "|"]
    lines += [f"| {name} | {' | '.join(map(str, cells))} |" for name, cells in rows]
    return "\n".join(lines) + "\n"


def _counts(known: Sequence[Platform]) -> str:
    lines = [
        "| cells | proven ✓ | recorded ○ | specified | unknown ? | also proven |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for each in known:
        numbers = [*each.counts().values(), len(each.proofs.also)]
        lines.append(f"| {each.support.id} | {' | '.join(map(str, numbers))} |")
    return "\n".join(lines) + "\n"


# The command

_COLOURS = {"proven": "green", "recorded": "cyan", "specified": None, "unknown": "yellow"}
_MEANT = {
    "proven": "a test showed it on the real client",
    "recorded": "seen in recorded sessions of the real client; `--json` says which version",
    "specified": "from its documentation, its code or a look at it; `--json` has the source",
    "unknown": "nobody has looked",
}


@click.command("matrix")
@click.option("--events", is_flag=True, help="Native event names instead of capabilities.")
@click.option("--markdown", is_flag=True, help="Print both tables as Markdown.")
@click.option(
    "--json", "as_json", is_flag=True, help="Print JSON, with the evidence of every cell."
)
def command(events: bool, markdown: bool, as_json: bool) -> None:
    """Show what works on which platform, from each dialect's support table.

    Beside yes and no a cell names what is said instead, never weaker than what was meant. A ✓
    stands behind what a test showed on the real client, a ○ behind what was seen in recorded
    sessions of it, a ? behind what nobody knows.
    """
    if as_json + markdown + events > 1:
        together = "--json, --markdown and --events do not go together"
        raise click.UsageError(f"{together}: the first two hold everything")
    known = platforms()
    if as_json:
        print_json(list_all(known))
    elif markdown:
        click.echo(as_markdown(known), nl=False)
    else:
        _print(known, events)


def _print(known: list[Platform], events: bool) -> None:
    rows = list(event_rows(known) if events else capability_rows(known))
    builtins = list(builtin_rows(known))
    width = max(len(name) for name, _ in rows)
    for index, platform in enumerate(known):
        support = platform.support
        counts = ", ".join(f"{number} {state}" for state, number in platform.counts().items())
        head = click.style(f"{support.client} {support.version}", bold=True)
        click.echo(f"\n{head}  {click.style(counts, dim=True)}")
        for name, cells in rows:
            if cells[index].evidence is not None or not events:
                click.echo(f"  {name:<{width}}  {coloured(cells[index])}")
        if events:
            continue
        for sentence in support.beyond:
            click.echo(f"  {click.style('out of reach:', fg='yellow')} {sentence}")
        said = {each.hook: _say(each, why=True) for _, row in builtins for each in [row[index]]}
        for word in dict.fromkeys(said.values()):
            names = (name for name in said if said[name] == word)
            click.echo(f"  builtins, {word}: {', '.join(names)}")
    _print_legend()


def coloured(cell: Cell) -> str:
    """A cell in the colour of how well it is known."""
    if cell.evidence is None:
        return click.style(str(cell), dim=True)
    return click.style(str(cell), fg=_COLOURS[cell.evidence.state])


def _print_legend() -> None:
    click.echo()
    for state, mark in MARKS.items():
        word = click.style(f"{state}{mark}", fg=_COLOURS[state])
        click.echo(f"{word}: {_MEANT[state]}")
