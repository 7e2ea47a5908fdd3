"""What a person sees before trusting a config: its powers first, then every change.

Knows how to show it, as lines or as data; must not know how to ask or to store.
"""

import os
import shlex
from collections.abc import Iterable, Iterator
from difflib import unified_diff
from hashlib import sha256
from itertools import islice
from typing import Any

import click
import msgspec
from msgspec import Struct
from msgspec.structs import replace

from hookline.config.assemble import assemble
from hookline.config.pins import Draft, HookPins
from hookline.config.trust import TrustedSet
from hookline.config.types import ConfigFile
from hookline.model.errors import Problem, TrustError
from hookline.model.hook import Hook, Source
from hookline.model.text import visible

__all__ = ["Review"]

# What these keys name is run, asked or granted without a further question.
_POWERS = ("allow", "run", "python", "http", "mcp", "judge")

# Longer files are cut, except for the config itself; that they were is said.
_LONGEST = 400
_STATES = {
    "untrusted": "not trusted yet",
    "damaged": "what was trusted of it is damaged, so all of it is shown as new",
}
_COLOURS = {"+": "green", "-": "red", "@": "cyan"}


class _Change(Struct, frozen=True):
    """One file as it was trusted and as it is now; None where there was or is none."""

    path: str
    before: bytes | None
    after: bytes | None

    @property
    def state(self) -> str:
        if self.before is None:
            return "new"
        if self.after is None:
            return "no longer pinned"
        return "same" if self.before == self.after else "changed"

    def lines(self) -> list[str]:
        """A unified diff; nothing in it acts on a terminal or hides from a reader."""
        try:
            before, after = _lines(self.before), _lines(self.after)
        except UnicodeDecodeError:
            content = self.after or b""
            return [f"not text: {len(content):,} bytes, sha256 {sha256(content).hexdigest()}"]
        diff = unified_diff(before, after, lineterm="")
        return [visible(line) for line in islice(diff, 2, None)]  # two lines of file names


class Review(Struct, frozen=True):
    """What would be trusted, beside what is trusted today."""

    draft: Draft
    state: str
    trusted: TrustedSet | None = None
    before: ConfigFile | None = None
    """The trusted version, compiled."""
    problems: tuple[Problem, ...] = ()
    """Why hooks in it cannot run."""

    @property
    def is_news(self) -> bool:
        """Whether trusting it would change anything."""
        return self.trusted is None or not self.trusted.is_made_of(self.draft.readings)

    def changes(self) -> list[_Change]:
        """Every file that would be trusted, or no longer be."""
        now = {
            each.path: each.content if each.path == each.real else _link(each.real)
            for each in self.draft.readings
        }
        before = dict(_trusted_contents(self.trusted)) if self.trusted else {}
        found = [_Change(path, before.get(path), now.get(path)) for path in {**now, **before}]
        return [each for each in found if each.state != "same"]

    def powers(self) -> list[tuple[Hook, str]]:
        """What hooks that are not in force today would run, ask or grant.

        From what the config was compiled to, not from its text, where a key can be spelled so
        that no reader recognises it.
        """
        known = [_essence(hook) for hook in _in_force(self.before)]
        new = [hook for hook in _in_force(self.draft.file) if _essence(hook) not in known]
        return [
            (hook, f"{key}: {_value(hook.handler.values[key])}")
            for hook in new
            for key in _POWERS
            if key in hook.handler.values
        ]

    def losses(self) -> list[Hook]:
        """The hooks in force today that no longer would be, at least not as they are."""
        kept = [_essence(hook) for hook in _in_force(self.draft.file)]
        return [hook for hook in _in_force(self.before) if _essence(hook) not in kept]

    def as_json(self) -> dict[str, Any]:
        """Everything shown, as data."""
        changes = self.changes()
        return {
            "config": self.draft.config,
            "sha256": self.draft.digest,
            "files": [{"path": each.path, "state": each.state} for each in changes],
            "powers": [f"{hook.name}: {text}" for hook, text in self.powers()],
            "losses": [hook.name for hook in self.losses()],
            "problems": [str(each) for each in self.problems],
            "hooks": [
                {
                    "name": each.hook.name,
                    "source": str(each.hook.source),
                    "pinned": list(each.pinned),
                    "not_pinned": list(each.unpinned),
                }
                for each in self.draft.hooks
            ],
            "diff": [line for each in changes for line in each.lines()],
        }

    def as_lines(self) -> Iterator[str]:
        """Everything, for a person to read from the top."""
        state = _STATES.get(self.state, "changed since it was trusted")
        yield click.style(f"{visible(self.draft.config)}: {state}", bold=True)
        yield f"sha256 {self.draft.digest}"
        yield from _section(
            "What it would run, ask or allow:",
            [f"{_title(hook)}\n    {text}" for hook, text in self.powers()],
        )
        yield from _section("Removed or changed hooks:", map(_title, self.losses()))
        for change in self.changes():
            yield from _heading(f"{change.path} ({change.state}):")
            yield from self._diff(change)
        yield from _section(
            "Pinned, so that it runs only in these bytes:", map(self._pins, self.draft.hooks)
        )
        # Last, right above the question.
        yield from _section("Hooks that cannot run:", map(str, self.problems))

    def _pins(self, pins: HookPins) -> str:
        """One line for what is pinned, and one for what may change unnoticed."""
        project = self.draft.file.project_dir
        paths = [os.path.relpath(path, project) for path in pins.pinned]
        line = f"{_title(pins.hook)}: {', '.join(paths) or 'nothing'}"
        return f"{line}\n    not pinned: {'; '.join(pins.unpinned)}" if pins.unpinned else line

    def _diff(self, change: _Change) -> Iterator[str]:
        lines = change.lines()
        shown = lines if change.path == self.draft.config else lines[:_LONGEST]
        for line in shown:
            yield click.style(line, fg=_COLOURS.get(line[:1]))
        if len(shown) < len(lines):
            yield f"… and {len(lines) - len(shown):,} more lines of {visible(change.path)}"


def _heading(title: str) -> Iterator[str]:
    yield ""
    yield click.style(visible(title), fg="yellow")


def _section(title: str, items: Iterable[str]) -> Iterator[str]:
    """A heading and what stands under it; nothing when there is nothing."""
    lines = [f"  {visible(item)}" for item in items]
    if lines:
        yield from _heading(title)
        yield from lines


def _title(hook: Hook) -> str:
    return f"{hook.name} (line {hook.source.line})"


def _value(value: Any) -> str:
    if isinstance(value, str):
        return value.replace("\n", "\n      ")
    if isinstance(value, list):
        return shlex.join(value)
    return msgspec.json.encode(value).decode()


def _lines(content: bytes | None) -> list[str]:
    """The lines of a text; only a line feed ends one, so that nothing else can seem to."""
    return content.decode().removesuffix("\n").split("\n") if content else []


def _link(real: str) -> bytes:
    return f"a link to {real}".encode(errors="replace")


def _in_force(file: ConfigFile | None) -> tuple[Hook, ...]:
    """The hooks of a file, less those that it disables."""
    return assemble((file,)).hooks if file else ()


def _essence(hook: Hook) -> tuple[object, ...]:
    """All that decides what a hook does, and how much it counts."""
    moved = replace(hook, source=Source())  # a line further down is no other hook
    return (moved.identity(), hook.mode, hook.on_error, hook.guard, hook.always, hook.timeout)


def _trusted_contents(trusted: TrustedSet) -> Iterator[tuple[str, bytes]]:
    for file in trusted.files:
        if file.path != file.real:
            yield file.path, _link(file.real)
            continue
        try:
            yield file.path, trusted.read(file.path)
        except TrustError:
            # Damaged: then it is as new, and shown whole.
            continue
