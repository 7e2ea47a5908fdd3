"""Everything that is in force where an event happened, and everything that is written but is not.

Knows configs; must not know what became of the event.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from msgspec import Struct

from hookline.app import App
from hookline.config.assemble import assemble
from hookline.config.discover import project_root
from hookline.config.document import read_document
from hookline.config.reading import Reader
from hookline.config.types import Config, ConfigFile, Narrowing
from hookline.model.errors import HooklineError
from hookline.model.events import Event
from hookline.model.hook import Hook, Layer
from hookline.model.ports import Caller

__all__ = ["Key", "Surroundings", "key_of"]

Key: TypeAlias = tuple[str, str]
"""A hook's name and file; its line moves with every edit."""


def key_of(hook: Hook) -> Key:
    """By what a hook is known again."""
    return hook.name, hook.source.file


class Surroundings(Struct, frozen=True):
    """The config in force for one event, and the files it is made of."""

    app: App
    config: Config
    caller: Caller
    written: tuple[Hook, ...]
    """Every hook of every file that counts, in the order in which they run."""
    in_force: Mapping[Key, Hook]
    without_pause: frozenset[Key]
    """What would be in force if nothing were paused."""

    @classmethod
    def of(cls, app: App, event: Event, project_dir: str) -> "Surroundings":
        """As the app sees them now. Raises HooklineError when no config can be had."""
        root = project_dir or project_root(event.cwd, project_var=None)
        config = app.config_for(event, root)
        hooks = sorted(_hooks(config.files), key=lambda hook: (hook.priority, _rank(hook)))
        unpaused = assemble(config.files).hooks
        return cls(
            app,
            config,
            Caller(env=app.env, project_dir=root),
            tuple(hooks),
            {key_of(hook): hook for hook in config.hooks},
            frozenset(map(key_of, unpaused)),
        )

    def first_like(self, hook: Hook) -> Hook:
        """Of the hooks that would do the same, the one that does it."""
        identity = hook.identity()
        alike = [each for each in self.config.hooks if each.identity() == identity]
        return min(alike, key=_rank, default=hook)

    def disabled_by(self, hook: Hook) -> str:
        """Where the hook is switched off: every file and line that names it."""
        said_in_vain = {note.file for note in self.config.notes if note.kind == "ignored"}
        found = [
            (file, self._line_of_disable(file, hook.name))
            for file in _files(self.config.files)
            if hook.name in file.disable
        ]
        places = [
            f"{file.file}:{line}" if line else file.file
            for file, line in found
            if len(found) == 1 or file.file not in said_in_vain
        ]
        return " and ".join(places)

    def narrowings(self) -> Iterator[tuple[str, Narrowing]]:
        """Every exception that is written apart from its hook, with its file."""
        for file in _files(self.config.files):
            yield from ((file.file, each) for each in file.narrowings)

    def drafts(self) -> Iterator[tuple[Hook, str, str]]:
        """Every hook that is written in a file in which it is not in force; the note's kind, why.

        Only our own files are looked into: what another platform's newcomer holds, its note says.
        """
        known = {key_of(hook) for hook in self.written}
        files = {file.file for file in self.config.files}
        for note in self.config.notes:
            fresh = note.kind == "untrusted"
            if not fresh and not (note.kind == "changed" and note.file in files):
                continue
            try:
                drafted = self.app.loader.draft(note.file)
            except HooklineError:
                continue
            for pins in drafted.hooks:
                if key_of(pins.hook) not in known:
                    yield pins.hook, note.kind, note.file

    def _line_of_disable(self, file: ConfigFile, name: str) -> int:
        """The line of one name under ``disable``; 0 when the file cannot be read again."""
        try:
            trusted = None
            if file.layer >= Layer.PROJECT:
                trusted = self.app.loader.store.find(file.file)
            raw = trusted.read(file.file) if trusted is not None else Reader()(file.file)
            return read_document(raw, file.file).line("disable", file.disable.index(name))
        except (HooklineError, OSError):
            return 0


def _rank(hook: Hook) -> int:
    # As the app orders them: layers, and a project's own before what it includes all the same.
    return Layer.PROJECT if hook.native else min(hook.source.layer, Layer.PROJECT)


def _files(files: Sequence[ConfigFile]) -> Iterator[ConfigFile]:
    for file in files:
        yield file
        yield from _files(file.includes)


def _hooks(files: Sequence[ConfigFile]) -> Iterator[Hook]:
    for file in _files(files):
        yield from file.hooks
