"""Codex with hookline in it: installed and trusted as a person would, then run or spoken with.

Nothing here goes past the client's own trust: hooks run because ``hookline install codex --trust``
had the client itself say what to trust.
"""

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from msgspec import Struct

from hookline.lab.clients._codex_talk import Talk, refuse
from hookline.lab.clients._rpc import Message
from hookline.lab.clients.codex import Codex
from hookline.lab.playing import Stage
from hookline.lab.ports import Program, Session, Wish
from hookline.lab.script import Act, Script, Shell, Turn
from hookline.processes import Finished
from interop.arena import Arena, arena

__all__ = [
    "WARY",
    "Spoken",
    "command",
    "commands",
    "guarded",
    "halting",
    "hookline",
    "install_trusted",
    "notice",
    "one_by_one",
    "path_of",
    "speak",
]

WARY = Codex(bypass_trust=False)
"""The client as people run it: hooks that nobody trusted are skipped."""


class Spoken(Struct, frozen=True):
    """A conversation that is over: the evidence, and all that was said on the way."""

    session: Session
    talk: Talk
    ends: Sequence[str]
    """How each turn ended, as the client says it."""


@contextmanager
def guarded(
    program: Program,
    *,
    config: str = "",
    project: str = "",
    files: Mapping[str, str] | None = None,
    client: Codex = WARY,
) -> Iterator[Arena]:
    """A room with hookline installed and trusted, as `arena` makes it."""
    with arena(
        client, program, config=config, project=project, files=files, install=False
    ) as place:
        install_trusted(place)
        yield place


def install_trusted(place: Arena, *options: str) -> None:
    """``hookline install codex --trust``, with the client on the PATH as a person has it."""
    ran = hookline(place, "install", "codex", "--trust", *options)
    assert ran.exit_code == 0, ran.stderr.decode()
    if place.ran("hookline.yaml"):
        ran = hookline(place, "trust")
        assert ran.exit_code == 0, ran.stderr.decode()


def hookline(place: Arena, *words: str) -> Finished:
    """``hookline WORDS`` where the client is on the PATH and somebody says yes."""
    return place.hookline(*words, env={"PATH": path_of(place)})


def path_of(place: Arena) -> str:
    """The PATH of a person who has installed both: the client and hookline."""
    both = (os.path.dirname(each) for each in (place.stage.program.argv[0], sys.executable))
    return os.pathsep.join((*both, place.room.env["PATH"]))


def speak(
    place: Arena,
    script: Script,
    talk: Callable[[Talk], Sequence[str]] | None = None,
    *,
    permission: bool = False,
    answer: Callable[[Message], Message] = refuse,
) -> Spoken:
    """The script as a conversation with the client's app server; without ``talk``, its prompt."""
    heard: list[Talk] = []
    ends: list[str] = []

    def converse(it: Talk, script: Script) -> None:
        heard.append(it)
        it.begin()
        ends.extend(talk(it) if talk is not None else [it.say(script.prompt)])

    client = Codex(bypass_trust=False, talk=converse, answer=answer)
    spoken_with = Stage(client, place.room, place.stage.program, place.stage.place)
    wish = Wish(permission="ask" if permission else "all")
    session = spoken_with.play(script, wish=wish)
    assert not session.cut, f"{session.cut}: {session.stderr.decode(errors='replace')}"
    return Spoken(session, heard[0], tuple(ends))


# ── scripts ──


def one_by_one(*acts: Act, prompt: str = "MK_PROMPT") -> Script:
    """A script in which each act has a turn of its own."""
    return Script(prompt=prompt, turns=tuple(Turn(do=(act,)) for act in acts))


def commands(*each: str, prompt: str = "MK_PROMPT") -> Script:
    """The same of shell commands."""
    return one_by_one(*map(Shell, each), prompt=prompt)


# ── hooks ──


def command(text: str) -> dict[str, str]:
    """Matches one shell command."""
    return {"tool": "shell", "command": text}


def notice(text: str) -> str:
    """A program that has something to say to the person."""
    return f"""echo '{{"notice": ["{text}"]}}'"""


def halting(reason: str, when: str = "") -> str:
    """A program that halts, always or when a word is in the event."""
    said = f'echo \'{{"verdict": "halt", "reason": "{reason}"}}\''
    return f"if grep -q '{when}'; then {said}; fi" if when else said
