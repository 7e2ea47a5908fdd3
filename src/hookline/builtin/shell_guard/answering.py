"""From an event to an answer: the findings, the mode, the words for people."""

import os
import re
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from functools import cache
from typing import TYPE_CHECKING

from msgspec import structs

from hookline.builtin.shell_guard import judging
from hookline.builtin.shell_guard.left_open import LEAVE_OPEN
from hookline.builtin.shell_guard.model import Finding
from hookline.builtin.shell_guard.world import World
from hookline.model.answers import PASS, Answer, Verdict, ask, deny
from hookline.model.events.base import Event
from hookline.model.ports import Caller
from hookline.shell import split

if TYPE_CHECKING:
    from hookline.builtin.shell_guard import Options

from hookline.builtin._links import resolved
from hookline.builtin._paths import homes
from hookline.builtin.shell_guard.world import is_of_system
from hookline.model.ports import NOBODY

__all__ = ["Bearings", "answer", "rehearse"]

# What a model is given to read at most.
MAX_REASON = 200
_PLAIN = re.compile(r"[\w./:@+=,~^-]+")
_MAX_LENGTH = 80
# What publishes, or makes one directory like another, can say first what it would do.
_DRY_RUN = {
    "git": frozenset({"push", "rm"}),
    "npm": frozenset({"publish"}),
    "pnpm": frozenset({"publish"}),
    "cargo": frozenset({"publish"}),
    "rsync": frozenset[str](),
}
_FORCED = re.compile(r"-[A-Za-z]*f[A-Za-z]*")


def answer(command: str, event: Event, caller: Caller, options: "Options") -> Answer:
    """What is said about a command."""
    # What a person denies or protects is so whatever they allow.
    listed = options.deny or options.protect
    if options.allow and not listed and _is_allowed(command, options) and not _joins(command):
        return PASS
    world = _world(event, caller, options)
    worst = _worst(_findings(command, world, options), options)
    return PASS if worst is None else _said(worst, command, world, options)


def _is_allowed(command: str, options: "Options") -> bool:
    return any(fnmatchcase(command, each) for each in options.allow)


def _joins(command: str) -> bool:
    """Whether a text is more than one command: a glob for one must not let others pass."""
    return any(mark in command for mark in ";&|\n`$()<>")


def _findings(command: str, world: World, options: "Options") -> Iterable[Finding]:
    if options.allow:
        yield from judging.found_in(command, world, allowed=lambda text: _is_allowed(text, options))
        if options.protect:
            # What is allowed is not judged above, and no list lets a protected path be changed.
            again = judging.found_in(command, structs.replace(world, steps=[]))
            yield from (each for each in again if each.category == "weakens-guard")
    else:
        yield from judging.found_in(command, world)
    if options.deny:
        yield from judging.denied_by(options.deny, command, world)


def _worst(found: Iterable[Finding], options: "Options") -> Finding | None:
    kept = [
        moded
        for each in found
        if each.category not in options.ignore
        if (moded := _in_mode(each, options.mode)) is not None
    ]
    return max(kept, key=lambda each: each.rank, default=None)


def _in_mode(finding: Finding, mode: str) -> Finding | None:
    if finding.verdict is Verdict.DENY or mode == "balanced":
        return finding
    denied = structs.replace(finding, verdict=Verdict.DENY)
    if mode == "strict":
        return finding if finding.radius == "low" else denied
    # Nobody is there to be asked.
    return denied if finding.radius == "high" else None


def _said(finding: Finding, command: str, world: World, options: "Options") -> Answer:
    # What sends or shows something does so in a rehearsal, too.
    rehearsal = "" if finding.category in ("sends-out", "reads-secret") else rehearse(command)
    safer = rehearsal if _is_fine(rehearsal, world, options) else ""
    rather = f" Rather: `{safer}`" if safer else ""
    # One reason that is read at a glance: what is left out is what the command itself says.
    room = MAX_REASON - len(finding.why) - len(rather) - 5
    reason = f"`{_visible(finding.words, max(room, 20))}`: {finding.why}.{rather}"
    metadata = {
        "category": finding.category,
        "blast_radius": finding.radius,
        "words": finding.words,
    }
    if safer:
        metadata["safer"] = safer
    say = deny if finding.verdict is Verdict.DENY else ask
    return say(reason, metadata=metadata)


def rehearse(command: str) -> str:
    """The same command as it would change nothing, made of its own words and one option.

    Empty where there is none, or where the text is more than one command.
    """
    shell = split(command)
    if len(shell.commands) != 1 or not shell.plain or shell.commands[0].wrappers:
        return ""
    name, *words = shell.commands[0].words
    if len(command) > _MAX_LENGTH or not all(map(_PLAIN.fullmatch, words)):
        return ""
    if "--no-dry-run" in words or "--" in words:
        return ""
    if name == "git" and "clean" in words:
        words = [word.replace("f", "n") if _FORCED.fullmatch(word) else word for word in words]
        words = ["--dry-run" if word == "--force" else word for word in words]
    elif name == "git" and "branch" in words:
        words = ["-d" if word == "-D" else word for word in words]
    elif name == "find" and words[-1:] == ["-delete"]:
        words[-1] = "-print"
    elif name in _DRY_RUN:
        verb = next((at for at, word in enumerate(words) if word in _DRY_RUN[name]), -1)
        if verb < 0 and _DRY_RUN[name]:
            return ""
        words.insert(verb + 1, "--dry-run")
    else:
        return ""
    return " ".join((name, *words))


def _visible(words: str, room: int) -> str:
    shown = " ".join(words.split())
    return shown if len(shown) <= room else f"{shown[: room - 1]}…"


def _is_fine(command: str, world: World, options: "Options") -> bool:
    """A guard that denies its own advice is no help."""
    return bool(command) and _worst(_findings(command, world, options), options) is None


def _world(event: Event, caller: Caller, options: "Options") -> World:
    where = Bearings(event, caller)
    own = caller.own
    if options.protect:
        own = (*_protected(options.protect, where.homes[0], where.written_project), *own)
    return World(
        where=where,
        env=caller.env,
        protect=own,
        left_open=event.dialect in LEAVE_OPEN,
        steps=[],
    )


def _protected(paths: Sequence[str], home: str, project: str) -> Iterable[str]:
    for path in paths:
        full = home + path[1:] if path.startswith("~") else os.path.join(project, path)
        yield os.path.normpath(full)


class Bearings:
    """The places of one event, for a `World`."""

    # Not `cached_property`, whose lock takes longer than a look at the disk.
    __slots__ = (
        *("_cwd", "_project", "_homes"),
        *("_given_home", "_written", "written_project"),
    )

    def __init__(self, event: Event, caller: Caller) -> None:
        self._written = event.cwd or caller.project_dir or "/"
        self.written_project = caller.project_dir or self._written
        """The project as its caller has it, links and all."""
        self._given_home = caller.env.get("HOME", "")
        self._cwd = self._project = ""
        self._homes: tuple[str, ...] = ()

    @property
    def cwd(self) -> str:
        """The directory in which the command runs."""
        if not self._cwd:
            self._cwd = _real(self._written)
        return self._cwd

    @property
    def project(self) -> str:
        """The project's top."""
        if not self._project:
            same = self.written_project == self._written
            self._project = self.cwd if same else _real(self.written_project)
        return self._project

    @property
    def homes(self) -> tuple[str, ...]:
        """What `~` is, and the account's home where that is another directory."""
        if not self._homes:
            self._homes = self._found_homes()
        return self._homes

    def _found_homes(self) -> tuple[str, ...]:
        given, own = self._given_home, _account_home()
        home = _real(given) if given.startswith("/") else ""
        if given == own:
            return (home or own,)
        # A repository may set an agent's variables, and must not make the system somebody's own.
        found = () if not home or is_of_system(home) else (home,)
        return (*found, _real(own))


@cache
def _account_home() -> str:
    """The home directory that the system knows."""
    found = homes(NOBODY)
    return found[0] if found else "/nonexistent"


def _real(path: str) -> str:
    """The directory without links, looked up each time: any part of it may have been moved."""
    return resolved(path) or os.path.normpath(path)
