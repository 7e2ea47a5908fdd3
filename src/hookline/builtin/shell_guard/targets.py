"""Turns a word of a command into the paths it would be, as far as text and machine tell."""

import os
import re
from collections.abc import Iterator
from itertools import islice

from msgspec import Struct

from hookline.builtin.shell_guard.model import Act
from hookline.builtin.shell_guard.world import Place, World, is_build_name, is_junk

__all__ = ["Target", "targets"]

# In place of what cannot be told, and of a temporary name somebody was given.
_HOLE = "\0"
_MADE = "\1"
_MAX_CANDIDATES = 16
_MAX_ROUNDS = 4
# Characters of a path that are looked up in one step.
_PER_STEP = 64

_EXPANSION = re.compile(
    r"\$\{(?P<braced>\w+)(?P<rest>[^{}]*)\}|\$(?P<name>[A-Za-z_]\w*)|\$[@*#?!0-9-]|(?P<pid>\$\$)"
    r"|\$\((?P<code>[^()`]*(?:\([^()`]*\)[^()`]*)*)\)|`(?P<ticks>[^`]*)`|\$\{[^}]*\}",
    re.ASCII,
)
_DEFAULT = re.compile(r":?[-=]")
_REQUIRED = re.compile(r":?\?")
_GLOB = re.compile(r"[*?\[]")
_BRACE_RANGE = re.compile(r"\{[^{}]*\}")


class Target(Struct, frozen=True, kw_only=True):
    """One path, or all paths of one pattern, that a command would act on."""

    word: str
    path: str
    """Absolute and without links, or empty; of a pattern, the directory its names are in."""
    place: Place
    pattern: str = ""
    """What is matched in that directory, if anything is."""
    known: bool = True
    """False when a part of it could not be told."""

    @property
    def junk(self) -> bool:
        """Whether only left-overs are meant."""
        return is_junk(self.pattern or os.path.basename(self.path))

    @property
    def all_of_it(self) -> bool:
        """Whether a pattern means everything in its directory."""
        return self.pattern in ("*", ".*", "**", "*.*", "?*", "[!.]*", ".[!.]*", ".[^.]*", "{*,.*}")


def targets(word: str, act: Act, world: World) -> list[Target]:
    """What a word stands for when it is used as a path."""
    if not world.spend(1 + (len(act.cwd) + len(word)) // _PER_STEP):
        return [_lost(word)]
    if act.exact and "\0" not in word:
        return [_target(word, word, act, world, globs=False)]
    found = list(islice(_values(word, act, world), _MAX_CANDIDATES))
    world.spend(len(found))
    return [_target(word, value, act, world, globs=True) for value in found]


def _values(word: str, act: Act, world: World, rounds: int = 0) -> Iterator[str]:
    """The word with every expansion replaced, by a hole if need be."""
    match = _EXPANSION.search(word)
    if match is None:
        yield word.replace("{}", _HOLE)
        return
    for value in islice(_value(match, act, world), _MAX_CANDIDATES):
        text = word[: match.start()] + value + word[match.end() :]
        if rounds < _MAX_ROUNDS:
            yield from _values(text, act, world, rounds + 1)
        else:
            yield _HOLE


def _value(match: re.Match[str], act: Act, world: World) -> Iterator[str]:
    name = match["name"] or match["braced"]
    if match["code"] is not None or match["ticks"] is not None:
        yield _output((match["code"] or match["ticks"] or "").strip(), act, world)
    elif match["pid"]:
        yield "0"
    elif not name:
        yield _HOLE
    else:
        yield from _variable(name, match["rest"] or "", act, world)


def _variable(name: str, rest: str, act: Act, world: World) -> Iterator[str]:
    known = act.variables.get(name) or _given(name, act, world)
    if known and (not rest or _DEFAULT.match(rest) or _REQUIRED.match(rest)):
        # A source that names its own variable would be looked up for ever.
        own = re.compile(rf"\$\{{?{re.escape(name)}\b")
        yield from (_HOLE if own.search(each) else each for each in known)
    elif _DEFAULT.match(rest):
        yield _DEFAULT.sub("", rest, count=1)
    else:
        yield _HOLE


def _given(name: str, act: Act, world: World) -> tuple[str, ...]:
    """Variables whose value is no secret of the shell's."""
    if name in ("RANDOM", "SECONDS", "EPOCHSECONDS", "UID", "PPID", "BASHPID"):
        return ("0",)
    if name == "HOME":
        return (world.home,)
    if name == "PWD":
        return (act.cwd,) if act.cwd else ()
    if name == "TMPDIR":
        return (world.env.get("TMPDIR") or "/tmp",)  # noqa: S108 - what programs fall back to
    if name in ("USER", "LOGNAME"):
        return (world.env.get(name) or os.path.basename(world.home),)
    if name in ("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME"):
        inside = {"CACHE": ".cache", "CONFIG": ".config", "STATE": ".local/state"}
        return (f"{world.home}/{inside.get(name[4:-5], '.local/share')}",)
    return ()


def _output(code: str, act: Act, world: World) -> str:
    """What a substitution evidently gives."""
    program, _, rest = code.partition(" ")
    if program == "mktemp":
        return _MADE if "-p" not in rest and "--tmpdir=" not in rest else _HOLE
    if code == "pwd":
        return act.cwd or _HOLE
    if code == "git rev-parse --show-toplevel":
        return world.project or _HOLE
    if program in ("date", "uuidgen", "hostname", "whoami", "id", "nproc", "uname", "arch"):
        return "0" if program != "whoami" else os.path.basename(world.home)
    if program in ("echo", "printf") and not re.search(r"[$`|;&<>%\\]", rest):
        return rest.strip("'\"\n ")
    return _HOLE


def _target(word: str, value: str, act: Act, world: World, *, globs: bool) -> Target:
    if value.startswith(_MADE) and ".." not in value:
        return Target(word=word, path="", place=Place.TEMP)
    path = _with_home(value, world, act)
    if not path.startswith(("/", _HOLE)):
        if not act.cwd:
            return _adrift(word, path)
        # What is elsewhere has another root, and nothing of it can be looked at.
        path = os.path.join(act.cwd, path)
    if _HOLE in path or _MADE in path:
        return _with_hole(word, path, act, world)
    if globs and (_GLOB.search(path) or _BRACE_RANGE.search(path)):
        return _pattern(word, path, act, world)
    real = _real(path, act, world)
    return Target(word=word, path=real, place=world.place(real))


def _real(path: str, act: Act, world: World) -> str:
    normal = os.path.normpath(path)
    if normal.startswith("//"):
        normal = normal[1:]
    return normal if act.elsewhere else world.real(normal + "/" * path.endswith("/"))


def _with_home(value: str, world: World, act: Act) -> str:
    if not value.startswith("~"):
        return value
    name, slash, rest = value[1:].partition("/")
    if name == "+":
        base = act.cwd or _HOLE
    elif name == "-":
        base = _HOLE
    else:
        base = world.user_home(name) if name else world.home
    return f"{base}{slash}{rest}"


def _adrift(word: str, path: str) -> Target:
    """Relative to a directory that cannot be told: only its own name says something."""
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if parts and ".." not in parts and any(is_build_name(part) for part in parts):
        return Target(word=word, path="", place=Place.BUILD, known=False)
    return Target(word=word, path="", place=Place.UNKNOWN, pattern="*", known=False)


def _with_hole(word: str, path: str, act: Act, world: World) -> Target:
    """Some of it is missing: what is there may still leave no doubt."""
    before, _, after = path.replace(_MADE, _HOLE).partition(_HOLE)
    if not before:
        # ``$X/build`` is harmless wherever it is; ``$X/`` and ``$X/*`` are not.
        return _adrift(word, after.rpartition(_HOLE)[2].lstrip("/")) if after else _lost(word)
    head, _, start = before.rpartition("/")
    base = _real(head + "/", act, world)
    place = world.place(base)
    if place is Place.ELSEWHERE and world.is_temp(base):
        place = Place.TEMP
    if ".." in after.split("/"):
        return _lost(word)
    name = start + "*"
    tail = after.replace(_HOLE, "*").rsplit("/", 1)[-1]
    if is_junk(name + tail) or is_junk(tail):
        name = name + tail
    return Target(word=word, path=base, place=place, pattern=name, known=False)


def _lost(word: str) -> Target:
    return Target(word=word, path="", place=Place.UNKNOWN, known=False)


def _pattern(word: str, path: str, act: Act, world: World) -> Target:
    """A glob: judged by the directory it is in, or by the worst that it could reach."""
    parts = path.split("/")
    first = next(at for at, part in enumerate(parts) if _GLOB.search(part) or "{" in part)
    # A pattern is looked for in the directory itself, not in a link to it.
    base = _real("/".join(parts[:first]) + "/", act, world)
    rest = "/".join(parts[first:]).rstrip("/")
    normal = os.path.normpath(os.path.join(base, rest))
    worst = [each for each in world.reached(normal) if world.place(each) is not Place.TEMP]
    if worst:
        return Target(word=word, path=worst[0], place=world.place(worst[0]), pattern=rest)
    place = world.place(base)
    if place is Place.HOME and base != world.home and world.is_temp(base):
        # A home or project lies in that directory, and the pattern does not reach it.
        place = Place.TEMP
    last = rest.rsplit("/", 1)[-1]
    if is_build_name(last) or any(is_build_name(part) for part in rest.split("/")):
        place = Place.BUILD
    return Target(word=word, path=base, place=place, pattern=last if is_junk(last) else rest)
