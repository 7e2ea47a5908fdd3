"""Which probes are played on a client, with which words, and what needs no session to be said."""

from collections.abc import Iterable, Mapping
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from secrets import token_hex
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

import hookline.verifying.probes
from hookline.lab.ports import Client
from hookline.lab.script import Agent, Script, Turn
from hookline.model.errors import HooklineError, UnknownNameError
from hookline.model.support import EventSupport, Support
from hookline.verifying.lines import ASKED, Line, Names, Part, Probe, Scene, State

__all__ = ["Plan", "Played", "chosen", "make_plan", "probes", "promise"]

# What is said instead and still keeps the thing from happening: that has to be seen too.
_PROTECTS = frozenset({"deny", "halt", "latch"})

_VERBS = {
    "allow": "allow it without asking",
    "ask": "ask the person",
    "deny": "block it",
    "halt": "end the run here",
    "context": "give this to the model",
    "follow_up": "keep going here",
    "input": "run another input",
    "output": "replace the output",
    "prompt": "replace the prompt",
    "summary": "replace the summary",
}
_INSTEAD = {
    "deny": "it is denied instead",
    "halt": "the run is ended instead",
    "latch": "this and all that follows is denied instead",
    "later": "the model is told it with its next turn or prompt instead",
    "feedback": "the model is told the reason instead",
    "notice": "the person is told instead",
    "pass": "the client decides instead",
    "none": "nothing happens instead",
}


class Promise(Struct, frozen=True):
    """What hookline says it does on this client."""

    how: str
    """``yes``, or what is said instead."""
    cannot: str = ""
    """What the client cannot do, and what happens instead; empty when it can."""

    @property
    def can_be_seen(self) -> bool:
        """Whether keeping it has an effect in a session."""
        return self.how == "yes" or self.how in _PROTECTS


class _Limit(Struct, frozen=True):
    """Something that is not tried in a session, and is named where a client cannot do it."""

    id: str
    title: str
    claim: tuple[str, str]


_LIMITS = (
    _Limit("allow", "an allow spares the person the question", ("pre_tool_use", "allow")),
    _Limit(
        "prompt-rewrite",
        "a rewritten prompt is what the model sees",
        ("user_prompt_submit", "prompt"),
    ),
    _Limit(
        "permission", "a permission request is answered by a hook", ("permission_request", "deny")
    ),
    _Limit("sub-agent-start", "a sub-agent is not started", ("subagent_start", "deny")),
    _Limit("sub-agent-stop", "a sub-agent is kept going", ("subagent_stop", "follow_up")),
    _Limit("compaction", "a compaction is vetoed", ("pre_compact", "deny")),
)


def promise(claim: tuple[str, str], support: Support, installed: Iterable[str]) -> Promise:
    """What the table says of this event and cell, for the native events that are installed."""
    event, cell = claim
    rows = [row for row in support.events.values() if row.event == event]
    names = set(installed)
    used = [row for row in rows if row.native in names] or rows
    if not used:
        return Promise("none", f"{support.client} has no event for it: {_INSTEAD['none']}")
    how = _said(used, cell)
    if how == "yes":
        return Promise(how)
    return Promise(how, f"{support.client} cannot {_VERBS.get(cell, cell)}: {_INSTEAD[how]}")


def _said(rows: Iterable[EventSupport], cell: str) -> str:
    """As much as on the native event that can do least."""
    said = ["yes" if row.can(cell) else row.instead(cell) for row in rows]
    return next((each for each in said if each != "yes"), "yes")


# By this the person knows that it is over.
_END = "§"


class Played(Struct, frozen=True):
    """One probe that is going to be played."""

    probe: Probe
    names: Names
    promised: Promise

    @property
    def part(self) -> Part:
        """What it adds to its session."""
        return self.probe.part(self.names)


class Plan(Struct, frozen=True, kw_only=True):
    """Everything that is known before the client is started."""

    played: tuple[Played, ...]
    known: Mapping[str, Line]
    """The lines of the probes that are not played, by their id."""
    limits: tuple[Line, ...]
    """What is tried by no probe and what this client cannot do."""

    @property
    def scenes(self) -> tuple[Scene, ...]:
        """The sessions, in order."""
        scenes = {each.probe.scene for each in self.played}
        scenes |= {each.probe.person for each in self.played if each.probe.person}
        return tuple(sorted(scenes, key=lambda scene: scene.order))

    def of(self, scene: Scene) -> tuple[Played, ...]:
        """The probes that share a session, in order."""
        found = (e for e in self.played if scene in (e.probe.scene, e.probe.person))
        return tuple(sorted(found, key=lambda each: each.probe.order))

    def script(self, scene: Scene) -> Script:
        """What is asked and answered in a session."""
        parts = [each.part for each in self.of(scene)]
        words = ["Please do the work of this canary session.", *(part.prompt for part in parts)]
        turns = tuple(turn for part in parts for turn in part.turns)
        return Script(
            prompt=" ".join(filter(None, words)),
            turns=(*turns, Turn(_END)) if scene.person else turns,
        )

    @property
    def files(self) -> Mapping[str, str]:
        """The project's files before the first session."""
        found: dict[str, str] = {}
        for each in self.played:
            found |= each.part.files
        return found

    @property
    def config(self) -> bytes:
        """The ``hookline.yaml`` with all the canary hooks; JSON is YAML too."""
        hooks = [
            {"name": f"{each.names.word} {number}", **hook}
            for each in self.played
            for number, hook in enumerate(each.part.hooks, start=1)
        ]
        text: dict[str, Any] = {"version": 1, "hooks": hooks}
        return msgspec.json.format(msgspec.json.encode(text), indent=2) + b"\n"


def make_plan(
    probes: Iterable[Probe],
    client: Client,
    support: Support,
    installed: Iterable[str],
    *,
    limits: bool = True,
) -> Plan:
    """The plan for a client; ``installed`` are the native events that hookline is written for."""
    natives = tuple(installed)
    nonce = token_hex(4)
    played: list[Played] = []
    known: dict[str, Line] = {}
    for probe in probes if client.package.asks else map(_alone, probes):
        promised = promise(probe.claim, support, natives) if probe.claim else Promise("yes")
        names = Names(f"canary-{probe.id}-{nonce}", f"MK{nonce}{probe.id.replace('-', '')}MK")
        each = Played(probe, names, promised)
        if not promised.can_be_seen:
            known[probe.id] = _line(probe, State.CANNOT, promised.cannot)
        elif probe.scene.person and not client.package.asks:
            why = f"{support.client} never asks a person before a tool runs"
            known[probe.id] = _line(probe, State.SKIPPED, why)
        elif why := _unsayable(client, each.part.turns):
            known[probe.id] = _line(probe, State.SKIPPED, why)
        else:
            played.append(each)
    named = tuple(
        Line(id=limit.id, title=limit.title, state=State.CANNOT, detail=said.cannot)
        for limit in _LIMITS
        if limits and (said := promise(limit.claim, support, natives)).cannot
    )
    beyond = tuple(
        Line(
            id=f"beyond-{number}",
            title="a limit of the agent, which no hook can lift",
            state=State.CANNOT,
            detail=each,
        )
        for number, each in enumerate(support.beyond if limits else (), 1)
    )
    return Plan(played=tuple(played), known=known, limits=(*named, *beyond))


def _alone(probe: Probe) -> Probe:
    """Without the second session, for clients before which no person can be."""
    return replace(probe, person=None)


def _line(probe: Probe, state: State, detail: str) -> Line:
    return Line(id=probe.id, title=probe.title, state=state, detail=detail)


def _unsayable(client: Client, turns: Iterable[Turn]) -> str:
    """Why the client's model has no call for one of the acts; empty when it has for all."""
    for turn in turns:
        for act in turn.do:
            try:
                client.call(act)
            except HooklineError as error:
                return str(error)
            if isinstance(act, Agent) and (why := _unsayable(client, act.turns)):
                return why
    return ""


@cache
def probes() -> tuple[Probe, ...]:
    """All of them, scene by scene."""
    names = sorted(info.name for info in iter_modules(hookline.verifying.probes.__path__))
    found: list[Probe] = []
    for name in names:
        if not name.startswith("_"):
            found += import_module(f"hookline.verifying.probes.{name}").PROBES
    return tuple(sorted(found, key=lambda probe: (probe.scene.order, probe.order)))


def chosen(ids: tuple[str, ...]) -> tuple[Probe, ...]:
    """The probes of these ids with the twins they lean on, or all. Raises UnknownNameError."""
    known = {probe.id: probe for probe in probes()}
    for name in ids:
        if name not in known:
            raise UnknownNameError("line", name, sorted(known))
    if not ids:
        return probes()
    wanted = {*ids, *(known[name].twin for name in ids)}
    if any(known[name].person for name in ids):
        wanted.add(ASKED)
    return tuple(probe for probe in probes() if probe.id in wanted)
