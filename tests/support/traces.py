"""Recorded sessions of real programs, played through host mode, and how the two differ.

A session is given again what its hooks were given: the same files, and each event as another
platform would tell of it. What hooks are called, with which payload, and what follows is compared.
"""

import asyncio
import json
import os
import re
import stat
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from shlex import quote
from typing import Any, Protocol

from msgspec import Raw
from msgspec.structs import replace

from hookline import registry
from hookline.dialects._files import Files
from hookline.engine.engine import Engine
from hookline.model.events import Event
from hookline.model.hook import Layer
from hookline.model.native import NativeFile, Where
from hookline.model.outcome import Outcome
from hookline.model.ports import Caller
from support.hosts import bind

__all__ = [
    "Call",
    "Machine",
    "Played",
    "Recorded",
    "canonical",
    "compare_calls",
    "discover",
    "plain",
    "write_recorder",
]

APP, HOME = "/home/dev/app", "/home/dev"
# What differs from run to run.
_VARIES = {"timestamp", "executionTime"}
_FILES = re.compile(r"tool-result-\d+|/tmp/[\w./-]*docker-agent-tool-results[\w./-]*")


class Call:
    """One hook that was asked: which, on which lane, and what it was told."""

    def __init__(self, hook: str, payload: Mapping[str, Any], lane: str = "") -> None:
        self.hook, self.payload, self.lane = hook, payload, lane

    @property
    def name(self) -> str:
        """Which hook it was, as differences name it."""
        event = self.payload.get("event") or self.payload.get("hook_event_name")
        return f"{event}{' before approval' if self.lane else ''}"


class Recorded(Protocol):
    """One session of a program, in the form of its traces."""

    name: str

    def play(self, machine: "Machine") -> Iterator[str]:
        """How host mode differs from what was recorded."""


class Machine:
    """Where a session is played: a project, a home, and what hooks wrote down."""

    def __init__(self, base: Path) -> None:
        self.home, self.log = base / "dev", base / "log"
        self.app = self.home / "app"
        self.app.mkdir(parents=True)
        self.places = {APP: str(self.app), HOME: str(self.home)}

    def here(self, value: Any) -> Any:
        """A recorded value with the paths of this machine."""
        text = json.dumps(value)
        for there, here in self.places.items():
            text = text.replace(there, here)
        return json.loads(text)

    def there(self, value: Any) -> Any:
        """The other way round."""
        text = json.dumps(value)
        for there, here in self.places.items():
            text = text.replace(here, there)
        return json.loads(text)

    def write(self, path: Path, text: str, mode: int = 0o644) -> None:
        """A file of the session."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        path.chmod(mode)

    def heard(self) -> list[tuple[str, dict[str, Any]]]:
        """What hooks have written down since this was asked last: who, and the payload."""
        if not self.log.exists():
            return []
        lines = self.log.read_text(encoding="utf-8").splitlines()
        self.log.unlink()
        rows = [line.partition("\t") for line in lines if line.strip()]
        return [(who, self.there(json.loads(text)) if text else {}) for who, _, text in rows]


class Played:
    """The hooks of a session's files, in host mode."""

    def __init__(self, files: Files, machine: Machine, read: Sequence[NativeFile]) -> None:
        hooks = files.hooks(read, layer=Layer.USER, project_dir=str(machine.app))
        named = [replace(hook, name=hook.name or f"hook {n}") for n, hook in enumerate(hooks)]
        bound = [bind(hook) for hook in named]
        self._engine = Engine(bound, tools=registry.tools, project_allow=True)
        self._machine = machine
        self._env = {
            "PATH": os.environ["PATH"],
            "HOME": str(machine.home),
            "SHELL": "/bin/sh",
            "TMPDIR": str(machine.home),
            "HOOK_REC": str(machine.log),
            "HOOK_OUT": str(machine.home),
            "LC_ALL": "C.UTF-8",
        }

    def fire(self, event: Event) -> Outcome:
        """What the hooks say of an event that comes from elsewhere."""
        caller = Caller(env=self._env, project_dir=str(self._machine.app), home=self._env["HOME"])
        return asyncio.run(self._engine.handle(event, caller))


def discover(files: Files, machine: Machine) -> list[NativeFile]:
    """The files that lie where the platform looks for them."""
    found = []
    for place in files.places(Where(project=str(machine.app), home=str(machine.home))):
        try:
            names = files.members(place.path, os.listdir(place.path)) or ()
        except OSError:
            continue
        paths = [Path(place.path, name) for name in names]
        found += [files.read(str(path), path.read_bytes()) for path in paths if path.is_file()]
    return found


def canonical(event: Event, **fields: Any) -> Event:
    """An event as a platform tells of it that knows nothing of this one."""
    return replace(event, dialect="canonical", native_event="", raw=Raw(b"null"), **fields)


def compare_calls(
    recorded: Sequence[Call], played: Sequence[Call], *, ordered: bool = True
) -> Iterator[str]:
    """Hooks that were asked only there or only here, in another order, or told otherwise.

    Without ``ordered`` those of one lane run side by side, so that only the lanes have an order.
    """
    there, here = (
        [(call.hook, call.lane, call.name) for call in calls] for calls in (recorded, played)
    )
    for (_, _, name), number in (Counter(there) - Counter(here)).items():
        yield f"{name} asks {number} fewer"
    for (_, _, name), number in (Counter(here) - Counter(there)).items():
        yield f"{name} asks {number} more"
    common = Counter(there) & Counter(here)
    both = ([each for each in asked if each in common] for asked in (there, here))
    first, second = ([each if ordered else each[1] for each in asked] for asked in both)
    if first != second:
        yield "hooks are asked in another order"
    left = list(played)
    for call in recorded:
        same = next(
            (p for p in left if (p.hook, p.lane, p.name) == (call.hook, call.lane, call.name)), None
        )
        if same is not None:
            left.remove(same)
            yield from (
                f"{call.name} tells another {key}" for key in _differing(call.payload, same.payload)
            )


def _differing(there: Any, here: Any, path: str = "") -> Iterator[str]:
    if isinstance(there, dict) and isinstance(here, dict):
        for key in sorted({*there, *here} - _VARIES):
            inner = f"{path}.{key}" if path else key
            yield from _differing(there.get(key, "(absent)"), here.get(key, "(absent)"), inner)
    elif plain(there) != plain(here):
        yield path


def plain(value: Any) -> Any:
    """A value without what differs from run to run."""
    return _FILES.sub("FILE", value) if isinstance(value, str) else value


def write_recorder(
    machine: Machine,
    path: Path,
    who: str,
    query: Mapping[str, Any],
    answers: Sequence[Mapping[str, Any]],
    mode: int,
) -> None:
    """A program that writes down what it is told, and gives its recorded answers in turn."""
    place = machine.home / "answers" / who.replace("/", "-")
    for number, answer in enumerate(answers, 1):
        machine.write(place / f"{number}.out", str(machine.here(answer.get("stdout", ""))))
        machine.write(place / f"{number}.err", str(answer.get("stderr", "")))
        machine.write(place / f"{number}.code", str(answer.get("exit", 0)))
    at = quote(str(place))
    script = f"""#!/bin/sh
case "$1" in
hook) printf %s {quote(query.get("stdout", ""))}; printf %s {quote(query.get("stderr", ""))} >&2
  exit {query.get("exit", 0)} ;;
esac
n=$(cat {at}/n 2>/dev/null || echo 0); n=$((n + 1)); mkdir -p {at}; echo $n > {at}/n
{{ printf '%s\\t' {quote(who)}; cat; echo; }} >> {quote(str(machine.log))}
[ -e {at}/$n.code ] || exit 0
cat {at}/$n.err >&2; cat {at}/$n.out; exit "$(cat {at}/$n.code)"
"""
    machine.write(path, script, stat.S_IMODE(mode))
