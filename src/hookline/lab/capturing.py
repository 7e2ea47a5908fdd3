"""Records what a client sends to its hooks: plays scenarios with a spy as the hook, and collects.

Knows the spy and the recordings; must not know how a hook is written into a client's settings,
which whoever starts a capture does.
"""

import json
import os
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from hookline.lab.playing import stage
from hookline.lab.ports import Client, Program, Room, Session
from hookline.lab.recordings import Recording
from hookline.lab.rooms import furnished_room
from hookline.lab.sanitising import Sanitiser, places_of
from hookline.lab.scenarios import Scenario
from hookline.lab.shapes import outline
from hookline.model.errors import HooklineError

__all__ = ["Captured", "Played", "Recorder", "spy_words"]

_LONGEST = 300
_SPY = str(Path(__file__).with_name("_spy.py"))


class Played(Struct, frozen=True, kw_only=True):
    """One scenario as it went."""

    scenario: str
    seconds: float = 0.0
    exit_codes: tuple[int | None, ...] = ()
    """Of each session; None for one that was cut off."""
    events: Mapping[str, int] = {}
    """How often each event was seen."""
    went_well: bool = False
    """Whether every session ended by itself, and as it should."""
    said: str = ""
    """The client's last words when it did not end well."""


class Captured(Struct, frozen=True, kw_only=True):
    """What a capture brought: payloads, each shape once, and how the sessions went."""

    recordings: tuple[Recording, ...]
    played: tuple[Played, ...]


def spy_words(folder: str, *, is_named: bool = False) -> tuple[str, ...]:
    """What starts the spy; the words ``hook DIALECT EVENT`` have to follow.

    With ``is_named`` it has hookline's name, for installers that look for their own entries.
    """
    words = (sys.executable, "-I", "-S", _SPY, folder)
    if not is_named:
        return words
    path = os.path.join(folder, "hookline")
    Path(path).write_text(f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n', encoding="utf-8")
    os.chmod(path, 0o700)
    return (path,)


class Recorder:
    """Collects recordings over several scenarios: each shape of each event once."""

    def __init__(
        self,
        client: Client,
        program: Program,
        *,
        day: str,
        install: Callable[[Room, tuple[str, ...]], None],
        names: Mapping[str, str] | None = None,
        own_home: str = "",
        isolate: bool = True,
    ) -> None:
        """``install`` writes the hook of these words into the client's settings in the room."""
        self._client = client
        self._program = program
        self._day = day
        self._install = install
        self._names = names or {}
        self._own_home = own_home
        self._isolate = isolate
        self._found: dict[object, Recording] = {}
        self._played: list[Played] = []

    @property
    def version(self) -> str:
        """What the client says of itself."""
        return self._program.version

    def play(self, scenario: Scenario) -> Played:
        """Record one scenario. Raises HooklineError when not even the first can be played."""
        try:
            played = self._recorded(scenario)
        except HooklineError as error:
            if not self._found:
                raise
            # One that a newer client does not go along with must not cost us all the others.
            played = Played(scenario=scenario.name, said=str(error))
        self._played.append(played)
        return played

    def _recorded(self, scenario: Scenario) -> Played:
        with furnished_room(scenario.files) as room:
            folder = os.path.join(room.root, "spied")
            os.mkdir(folder, mode=0o700)
            sessions, given = self._sessions(scenario, room, folder)
            # A client may name what it runs, the lab's own MCP server too.
            programs = (*self._program.argv, sys.executable, _SPY)
            places = places_of(room, programs, self._own_home)
            seen = list(self._recordings(scenario, folder, places, given))
        for each in seen:
            self._keep(each)
        return _as_played(scenario, sessions, seen)

    def _sessions(
        self, scenario: Scenario, room: Room, folder: str
    ) -> tuple[Sequence[Session], Set[str]]:
        """The sessions, and the names of all variables that the client was started with."""
        client, argv = scenario.driver or self._client, self._program.argv
        with stage(
            client,
            room=room,
            program=self._program,
            isolate=self._isolate,
            prepare=lambda there: self._install(
                there, spy_words(folder, is_named=bool(client.package.file))
            ),
        ) as on:
            sessions = [on.play(step.script, wish=step.wish) for step in scenario.steps]
            launches = [
                client.launch(room, on.url, argv, step.script, step.wish) for step in scenario.steps
            ]
        return sessions, {name for each in launches for name in each.env}

    def captured(self) -> Captured:
        """Everything that was recorded so far."""
        return Captured(recordings=tuple(self._found.values()), played=tuple(self._played))

    def _recordings(
        self, scenario: Scenario, folder: str, places: Mapping[str, str], given: Set[str]
    ) -> Iterator[Recording]:
        sanitiser = Sanitiser(places, self._names, seed=scenario.name)
        # The names begin with the time, so this is the order in which the client called.
        for path in sorted(Path(folder).glob("*.json")):
            spied = json.loads(path.read_bytes())
            names = tuple(spied["env_names"])
            yield Recording(
                client=self._client.dialect,
                version=self._program.version,
                recorded=self._day,
                event=spied["event"],
                scenario=scenario.name,
                scenarios=(scenario.name,),
                env_names=names,
                env_added=tuple(each for each in names if each not in given),
                payload=sanitiser.clean(_payload(spied["payload"])),
            )

    def _keep(self, recording: Recording) -> None:
        shape = (outline(recording.around), outline(recording.own))
        key = (recording.event, recording.tool, recording.kind, shape)
        known = self._found.setdefault(key, recording)
        if recording.scenario not in known.scenarios:
            scenarios = (*known.scenarios, recording.scenario)
            self._found[key] = replace(known, scenarios=scenarios)


def _payload(text: str) -> Mapping[str, Any]:
    """The payload; one that is no JSON object is kept as it is, under a name no client uses."""
    try:
        found = json.loads(text)
    except ValueError:
        return {"unparsed": text}
    return found if isinstance(found, dict) else {"unparsed": found}


def _as_played(
    scenario: Scenario, sessions: Sequence[Session], seen: Sequence[Recording]
) -> Played:
    events: dict[str, int] = {}
    for each in seen:
        events[each.event] = events.get(each.event, 0) + 1
    failed = [each for each in sessions if each.cut or bool(each.exit_code) != scenario.fails]
    return Played(
        scenario=scenario.name,
        seconds=sum(each.seconds for each in sessions),
        exit_codes=tuple(each.exit_code for each in sessions),
        events=events,
        went_well=not failed,
        said=_last_words(failed[0]) if failed else "",
    )


def _last_words(session: Session) -> str:
    if session.cut:
        return session.cut
    said = (session.stderr or session.stdout).decode("utf-8", "replace")
    return " ".join(said.split())[-_LONGEST:]
