"""One ``hookline.yaml`` and what it includes: from bytes to compiled hooks, or to every problem.

Knows files; what stands under ``hooks:`` is compiled in ``hooks``, and which files count for an
event is decided elsewhere.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import chain, count
from typing import Any, TypeVar

import msgspec
from msgspec import UNSET, Struct
from msgspec.structs import replace

from hookline.config.document import Document, brief, read_document
from hookline.config.hooks import Entry, HookCompiler, Report
from hookline.config.schema import FileEntry, Format, IncludeEntry, MatchEntry, file_format
from hookline.config.types import ConfigFile, Kit, ListNames, Narrowing, ReadFile
from hookline.model.errors import (
    ConfigError,
    IllegalValueError,
    Problem,
    TrustError,
    UnknownNameError,
)
from hookline.model.hook import Hook, Layer
from hookline.model.models import ModelEntry, mistakes_in
from hookline.model.ports import NativeFiles

__all__ = ["MAX_INCLUDES", "compile_file", "convert"]

MAX_INCLUDES = 8
"""How deep files may include each other."""

_KINDS = "a file in this format ends in .yaml or .yml; for another platform's, say `speaks:` too"


class Included(Struct, frozen=True):
    """The contents of included files, by path."""

    ours: dict[str, bytes]
    native: dict[str, tuple[NativeFiles, bytes]]


def _no_directories(path: str, speaks: str | None) -> Sequence[str]:
    """For configs that nobody reads from a disk."""
    raise NotADirectoryError(f"`{path}` cannot be looked into")


class Includes:
    """Reads included files, each once however often it is named."""

    def __init__(self, kit: Kit, read: ReadFile, names: ListNames) -> None:
        self._kit = kit
        self._read = read
        self._names = names
        self.seen: set[str] = set()

    def read(
        self, entries: Sequence[str | IncludeEntry], stack: tuple[str, ...], report: Report
    ) -> Included:
        """What these entries name and is not in force already; ``stack`` is who includes it."""
        found = Included({}, {})
        for index, given in enumerate(entries):
            entry = IncludeEntry(file=given) if isinstance(given, str) else given
            if entry is given and entry.speaks is entry.mode is UNSET:
                message = f"`include[{index}]` has neither `speaks` nor `mode`"
                report.add(("include", index), message, "write the name of the file alone")
                continue
            path = os.path.normpath(os.path.join(os.path.dirname(stack[-1]), entry.file))
            for flaw, hint in self._take(path, entry, stack, found):
                message = f"cannot include `{brief(entry.file)}`: {flaw}"
                report.add(("include", index), message, hint)
        return found

    def _take(
        self, path: str, entry: IncludeEntry, stack: tuple[str, ...], found: Included
    ) -> Iterator[tuple[str, str]]:
        """Adds what is at ``path`` to what was found; yields what is wrong with it."""
        from hookline.config.natives import members

        speaks = None if entry.speaks is UNSET else entry.speaks
        mode = None if entry.mode is UNSET else entry.mode
        try:
            paths = members(self._kit, path, self._names(path, speaks), speaks, mode)
        except IllegalValueError as error:
            yield str(error), ""
            return
        except OSError:
            paths = [path]  # a file, or nothing at all, which reading it will tell
        if not paths:
            yield "there are no hooks in this directory", _KINDS
        for each in paths:
            if each in stack:
                yield f"it would include itself ({_way(each, stack)})", ""
            elif len(stack) > MAX_INCLUDES:
                yield f"files include each other more than {MAX_INCLUDES} levels deep", ""
            elif each not in self.seen:
                yield from self._take_file(each, speaks, mode, found)

    def _take_file(
        self, path: str, speaks: str | None, mode: str | None, found: Included
    ) -> Iterator[tuple[str, str]]:
        from hookline.config.natives import owner

        try:
            content = self._read(path)
            platform = owner(self._kit, path, content, speaks)
            if mode is not None and platform is not None:
                platform = platform.in_mode(mode)
        except UnknownNameError as error:
            yield error.problems[0].message, error.problems[0].hint
            return
        except (OSError, TrustError, IllegalValueError) as error:
            yield getattr(error, "strerror", None) or str(error), ""
            return
        if mode is not None and platform is None:
            yield "`mode` means nothing for a hookline file", "leave it out"
            return
        if platform is None and not path.endswith((".yaml", ".yml")):
            yield "it is no hookline file, and no other platform's by its name", _KINDS
            return
        self.seen.add(path)
        if platform is None:
            found.ours[path] = content
        else:
            found.native[path] = (platform, content)


def _way(path: str, stack: tuple[str, ...]) -> str:
    return " → ".join(map(os.path.basename, (*stack[stack.index(path) :], path)))


def compile_file(
    raw: bytes,
    *,
    file: str,
    layer: Layer,
    project_dir: str,
    kit: Kit,
    read: ReadFile,
    names: ListNames = _no_directories,
) -> ConfigFile:
    """The file, compiled with all it includes; raises ConfigError with every problem in them."""
    compiler = _FileCompiler(kit, project_dir, layer, Includes(kit, read, names))
    compiled = compiler.compile(raw, file, layer, ())
    if compiled is None or compiler.problems:
        raise ConfigError(compiler.problems)
    return compiled


class _FileCompiler:
    """Compiles a file and its includes, each once."""

    def __init__(self, kit: Kit, project_dir: str, layer: Layer, includes: Includes) -> None:
        self.kit = kit
        self.project_dir = project_dir
        # What a person includes for all projects belongs to the one at hand, whichever it is.
        self.native_dir = project_dir if layer is Layer.PROJECT else ""
        self.includes = includes
        self.form = file_format(kit.handlers)
        self.problems: list[Problem] = []

    def compile(
        self, raw: bytes, file: str, layer: Layer, above: tuple[str, ...]
    ) -> ConfigFile | None:
        """The file, or None when it cannot be read at all; ``above`` are those that include it."""
        path = os.path.normpath(file)
        self.includes.seen.add(path)
        try:
            doc = read_document(raw, file)
        except ConfigError as error:
            self.problems += error.problems
            return None
        report = Report(doc)
        keys, entries = _read(doc, self.form, report)
        compiler = HookCompiler(report, self.form, self.kit, layer, self.project_dir)
        compiled = [compiler.compile(entry) for entry in entries]
        _check_names(entries, report)
        _check_models(keys.models, report)
        stack = (*above, path)
        included = self.includes.read(keys.include, stack, report)
        # Before those of the files it includes, so that problems read from the top down.
        self.problems += sorted(report.problems, key=lambda problem: problem.line)
        return ConfigFile(
            file=file,
            layer=layer,
            project_dir=self.project_dir,
            hooks=_named([each for each in compiled if isinstance(each, Hook)]),
            disable=tuple(keys.disable),
            narrowings=tuple(each for each in compiled if isinstance(each, Narrowing)),
            project_allow=None if keys.project_allow is UNSET else keys.project_allow,
            max_follow_ups=None if keys.max_follow_ups is UNSET else keys.max_follow_ups,
            max_context=None if keys.max_context is UNSET else keys.max_context,
            journal=None if keys.journal is UNSET else keys.journal,
            models=keys.models,
            digest=sha256(raw).hexdigest(),
            includes=(*self._included(included, stack), *self._natives(included)),
        )

    def _included(self, included: Included, stack: tuple[str, ...]) -> Iterator[ConfigFile]:
        for name, content in included.ours.items():
            compiled = self.compile(content, name, Layer.INCLUDE, stack)
            if compiled is not None:
                yield compiled

    def _natives(self, included: Included) -> tuple[ConfigFile, ...]:
        if not included.native:
            return ()
        from hookline.config.natives import compile_natives

        try:
            return compile_natives(included.native, self.kit, project_dir=self.native_dir)
        except ConfigError as error:
            self.problems += error.problems
            return ()


def _read(doc: Document, form: Format, report: Report) -> tuple[FileEntry, list[Entry]]:
    """The file's own keys, and every entry of which anything at all can be read."""
    written = doc.data.get("hooks", ())
    try:
        file = convert(doc, form.file)
    except ConfigError as error:
        report.problems += error.problems
    else:
        return file, [Entry(index, keys, written[index]) for index, keys in enumerate(file.hooks)]
    rest = {key: value for key, value in doc.data.items() if key != "hooks"}
    file = msgspec.convert(_usable(rest, form.file, {"version": 1}), form.file)
    return file, [
        Entry(index, msgspec.convert(_usable(each, form.hook), form.hook), each)
        for index, each in enumerate(written if isinstance(written, list) else ())
        if isinstance(each, dict)
    ]


def _usable(
    data: dict[str, Any], into: type[Struct], always: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """What fits of a broken mapping, so that mistakes in its other keys are found too."""
    usable = dict(always or {})
    for key, value in data.items():
        whole = key != "match" or not isinstance(value, dict)
        fits = value if whole else _usable(value, MatchEntry)
        try:
            msgspec.convert({**usable, key: fits}, into)
        except msgspec.ValidationError:
            continue
        usable[key] = fits
    return usable


def _check_models(models: Mapping[str, ModelEntry], report: Report) -> None:
    for name, entry in models.items():
        for message, hint in mistakes_in(entry):
            report.add(("models", name), f"`models: {brief(name)}`: {message}", hint)


def _check_names(entries: Sequence[Entry], report: Report) -> None:
    first: dict[str, Entry] = {}
    for entry in entries:
        name = entry.keys.name
        if isinstance(name, str) and not entry.is_narrowing:
            earlier = first.setdefault(name, entry)
            if earlier is not entry:
                line = report.doc.line(*earlier.at("name"))
                message = f"the hook on line {line} is already called `{brief(name)}`"
                report.add(entry.at("name"), message, "no two hooks of a file share a name")


def _named(hooks: Sequence[Hook]) -> tuple[Hook, ...]:
    """The hooks, with a name made for each that was written without one."""
    taken = {hook.name for hook in hooks}
    named = []
    for hook in hooks:
        name = hook.name or next(made for made in _made_names(hook) if made not in taken)
        taken.add(name)
        named.append(hook if hook.name else replace(hook, name=name))
    return tuple(named)


def _made_names(hook: Hook) -> Iterator[str]:
    key, value = next(iter(hook.handler.values.items()))
    name = value if key == "use" else f"{key} on {', '.join(hook.events)}"
    line = hook.source.line
    return chain([name, f"{name} (line {line})"], (f"{name} (line {line}, {n})" for n in count(2)))


T = TypeVar("T")


def convert(doc: Document, into: type[T]) -> T:
    """The data as ``into``; raises ConfigError with every mistake in it."""
    try:
        return msgspec.convert(doc.data, into, strict=True)
    except msgspec.ValidationError as error:
        from hookline.config import mistakes  # most files have none

        raise ConfigError(mistakes.mistakes_in(doc, into, error)) from None
