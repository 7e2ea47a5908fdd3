"""What matchers see of an event: its command taken apart, every place its paths may mean, and
every way its addresses may be read.

Looks at links on disk and nothing else there; knows no patterns.
"""

import os
from collections.abc import Iterator, Sequence
from functools import cache

from msgspec import Struct

from hookline.config.discover import normal_path
from hookline.model.errors import HandlerUnavailable
from hookline.model.events import Event, Workspace
from hookline.model.ports import NOBODY, Caller
from hookline.workspace import find_workspaces

__all__ = ["Sight", "Spot", "forget_sight", "sight_of"]

_LONGEST_PATH = 4096


class Spot(Struct, frozen=True):
    """One place a path may mean, as the differently anchored patterns see it."""

    whole: str
    """The path itself, absolute where that is known."""
    project: tuple[str, ...] = ()
    """Relative to the project directory, for a path inside it."""
    home: tuple[str, ...] = ()
    """Relative to the person's home directory, for a path inside it."""


class Sight:
    """What has been worked out about one event, so that a hundred hooks do it once."""

    __slots__ = (
        "_commands",
        "_grants",
        "_reals",
        "_spots",
        "_strict_spots",
        "_urls",
        "_workspaces",
        "caller",
        "event",
        "known",
    )

    def __init__(self, event: Event, caller: Caller) -> None:
        self.event = event
        self.caller = caller
        self.known: dict[tuple[object, str], bool] = {}
        """What somebody found out about one of its texts."""
        self._commands: dict[str, tuple[str, ...]] = {}
        self._grants: dict[str, tuple[str, ...]] = {}
        self._spots: dict[tuple[str, str], tuple[Spot, ...]] = {}
        self._strict_spots: dict[tuple[str, str], tuple[Spot, ...]] = {}
        self._reals: dict[str, str] = {}
        self._urls: dict[str, dict[str, tuple[str, ...]]] = {}
        self._workspaces: tuple[Workspace, ...] | None = None

    def workspaces(self) -> tuple[Workspace, ...]:
        """What is known of each repository that the event may be about."""
        if self._workspaces is None:
            self._workspaces = find_workspaces(self.event, self.caller)
        return self._workspaces

    def commands(self, text: str) -> tuple[str, ...]:
        """Every simple command that is a part of the text, without and with its wrappers."""
        found = self._commands.get(text)
        if found is None:
            # The parser is a library of its own, and many configs never look into a command.
            from hookline.shell import MAX_BYTES, split

            if len(text) > MAX_BYTES or len(text.encode("utf-8", "replace")) > MAX_BYTES:
                # Padding must not hide a command from a rule: what cannot be read has failed.
                raise HandlerUnavailable(
                    f"the command is too long to be read (over {MAX_BYTES:,} bytes); "
                    "put what is long into a file"
                )
            parsed = split(text)
            if parsed.incomplete:
                raise HandlerUnavailable(
                    "the command is too involved to be read to its end; "
                    "put it into a file, or run its parts one by one"
                )
            parts = parsed.commands
            forms = (form for each in parts for form in (each.text, " ".join(each.full)))
            found = self._commands[text] = tuple({form: None for form in forms if form != text})
        return found

    def granted_commands(self, text: str) -> tuple[str, ...]:
        """Every simple command with its wrappers; none when something else may hide in it."""
        found = self._grants.get(text)
        if found is None:
            from hookline.config.grants import parts_of
            from hookline.shell import split

            found = self._grants[text] = tuple(parts_of(text, split(text)))
        return found

    def urls(self, text: str) -> Iterator[str]:
        """Every way to read the addresses in the text: as given, and as their servers see them."""
        for given, forms in self._addresses(text).items():
            yield given
            for form in forms:
                # Without a scheme, a client would choose one.
                for prefix in ("",) if "://" in form else ("", "https://", "http://"):
                    yield f"{prefix}{form}"
                    yield f"{prefix}{form.removesuffix('/')}"

    def granted_urls(self, text: str) -> Iterator[str]:
        """The readings that all have to be granted."""
        for given, forms in self._addresses(text).items():
            yield given
            # `https://host` was written in full: it lacks nothing but the slash.
            yield from (form for form in forms if form != f"{given}/")

    def spots(self, given: str, project_dir: str) -> tuple[Spot, ...]:
        """Every place that a path may mean: as given, made absolute, and with links followed."""
        key = (given, project_dir)
        found = self._spots.get(key)
        if found is None:
            # A repository may set an agent's variables, and must not move `~/.ssh` that way.
            roots = self._roots(project_dir, (self._home(), _account_home()))
            meanings = self._meanings(given, project_dir, roots[1])
            places = [*map(normal_path, meanings), *map(self._real, _resolvable(meanings))]
            found = self._spots[key] = (
                Spot(given, _relative(given, roots[0]) if os.path.isabs(given) else (given,)),
                *(_spot(place, roots) for place in dict.fromkeys(places) if place),
            )
        return found

    def granted_spots(self, given: str, project_dir: str) -> tuple[Spot, ...]:
        """The places that a program would really touch; none when they cannot be known."""
        key = (given, project_dir)
        found = self._strict_spots.get(key)
        if found is None:
            roots = self._roots(project_dir, (self._home(),))
            meanings = self._meanings(given, project_dir, roots[1])
            places = [*map(self._real, _resolvable(meanings))]
            found = tuple(_spot(place, roots) for place in places) if all(places) else ()
            self._strict_spots[key] = found
        return found

    def absolute(self, given: str, project_dir: str) -> str:
        """The path as an absolute one where that can be known, with its links unfollowed."""
        return normal_path(os.path.join(self._base(project_dir), given))

    def _addresses(self, text: str) -> dict[str, tuple[str, ...]]:
        found = self._urls.get(text)
        if found is None:
            from hookline.config.urls import addresses, normal_forms

            found = self._urls[text] = {each: normal_forms(each) for each in addresses(text)}
        return found

    def _base(self, project_dir: str) -> str:
        bases = (self.event.cwd, self.caller.project_dir, project_dir)
        return next((base for base in bases if os.path.isabs(base)), "")

    def _home(self) -> str:
        return self.caller.env.get("HOME", "")

    def _roots(self, project_dir: str, homes: Sequence[str]) -> tuple[list[str], list[str]]:
        """The project and the home directories, as they are written and as they resolve."""
        projects = [project_dir or self.caller.project_dir]
        return self._spellings(projects), self._spellings(homes)

    def _spellings(self, directories: Sequence[str]) -> list[str]:
        known = [path for path in directories if os.path.isabs(path)]
        forms = (form for path in known for form in (normal_path(path), self._real(path)))
        return list(dict.fromkeys(filter(None, forms)))

    def _meanings(self, given: str, project_dir: str, homes: Sequence[str]) -> list[str]:
        """The path from its base, and from home too when a tool may expand its ``~``."""
        found = [os.path.join(self._base(project_dir), given)]
        if given == "~" or given.startswith("~/"):
            found += [os.path.join(home, given[2:]) for home in homes]
        return [path for path in found if os.path.isabs(path)]

    def _real(self, path: str) -> str:
        """The path with all links followed; empty for what can be no file's name."""
        if path not in self._reals:
            self._reals[path] = _resolved(path)
        return self._reals[path]


_NOTHING = Sight(Event(), NOBODY)


class _Latest:
    __slots__ = ("sight",)

    def __init__(self) -> None:
        self.sight = _NOTHING


_latest = _Latest()


def sight_of(event: Event, caller: Caller) -> Sight:
    """The sight of this event; the one before it is forgotten."""
    sight = _latest.sight
    # By identity: the same text a moment later may meet other links.
    if sight.event is not event or sight.caller is not caller:
        sight = _latest.sight = Sight(event, caller)
    return sight


def forget_sight() -> None:
    """Lets go of the last event, which may be large, and of its caller."""
    _latest.sight = _NOTHING


def _resolvable(meanings: Sequence[str]) -> dict[str, None]:
    # `link/..` is another place for the kernel than for a program that tidies the text first.
    return dict.fromkeys(form for path in meanings for form in (path, normal_path(path)))


def _spot(path: str, roots: tuple[list[str], list[str]]) -> Spot:
    projects, homes = roots
    return Spot(path, _relative(path, projects), _relative(path, homes))


def _relative(path: str, roots: Sequence[str]) -> tuple[str, ...]:
    found = []
    for root in roots:
        inside = root if root.endswith("/") else f"{root}/"
        if path == root:
            found.append("")
        elif path.startswith(inside):
            found.append(path[len(inside) :])
    return tuple(found)


def _resolved(path: str) -> str:
    if len(path) > _LONGEST_PATH:
        # No program can open it, and following its thousands of names would take long.
        return ""
    try:
        return normal_path(os.path.realpath(path))
    except ValueError:  # a NUL or half a character, which no file can have in its name
        return ""


@cache
def _account_home() -> str:
    try:
        import pwd

        return pwd.getpwuid(os.getuid()).pw_dir
    except (ImportError, KeyError):
        return ""
