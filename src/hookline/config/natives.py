"""Other platforms' hook files that a config includes: found, read, and made into hooks.

Knows which platform a file belongs to by asking each; what is in a file is for the platform.
"""

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256

from msgspec.structs import replace

from hookline.config.types import ConfigFile, Kit, Note
from hookline.model.errors import ConfigError, Problem, UnknownNameError
from hookline.model.hook import HandlerSpec, Hook, Layer, OnError
from hookline.model.native import NativeFile, NativeFlaw, Voids
from hookline.model.ports import NativeFiles

__all__ = ["compile_natives", "members", "owner"]

_OURS = (".yaml", ".yml")
# The one other YAML with hooks in it has them under its agents, and ours has no such key.
_AGENTS = re.compile(rb"(?m)^['\"]?agents['\"]?\s*:")


def owner(kit: Kit, path: str, content: bytes, named: str | None) -> NativeFiles | None:
    """The platform whose file this is; None for one of ours. Raises UnknownNameError."""
    if named is not None:
        found = kit.natives().get(named)
        if found is None:
            raise UnknownNameError("platform with hook files", named, kit.natives())
        return found
    if path.endswith(_OURS) and not _AGENTS.search(content):
        return None  # before anybody is asked, since asking loads every platform
    return next((each for each in kit.natives().values() if each.owns(path, content)), None)


def members(
    kit: Kit, directory: str, names: Sequence[str], named: str | None, mode: str | None = None
) -> list[str]:
    """The hook files in a directory, of the first platform that knows it.

    Raises IllegalValueError when that platform has no such ``mode``.
    """
    platforms = kit.natives()
    asked = [platforms[named]] if named and named in platforms else list(platforms.values())
    names = sorted(names)
    for each in asked:
        found = each.members(directory, names)
        if found is not None and mode is not None:
            found = each.in_mode(mode).members(directory, names)
        if found is not None:
            return [os.path.join(directory, name) for name in found]
    # A directory that a person called a platform's is, whatever that platform itself would say.
    endings = (*_OURS, ".json") if named else _OURS
    return [os.path.join(directory, name) for name in names if name.endswith(endings)]


def compile_natives(
    files: Mapping[str, tuple[NativeFiles, bytes]],
    kit: Kit,
    *,
    project_dir: str,
) -> tuple[ConfigFile, ...]:
    """Native files as compiled files; those of one platform are read together, as it does.

    Raises ConfigError when one of them cannot be read at all.
    """
    by_platform: dict[NativeFiles, list[NativeFile]] = {}
    for path, (platform, content) in files.items():
        by_platform.setdefault(platform, []).append(platform.read(path, content))
    unreadable = [
        Problem(file.path, flaw.line, flaw.message, flaw.hint)
        for read in by_platform.values()
        for file in read
        if file.is_unreadable
        for flaw in file.flaws
        if flaw.voids is Voids.FILE
    ]
    if unreadable:
        raise ConfigError(unreadable)
    compiled: dict[str, ConfigFile] = {}
    for platform, read in by_platform.items():
        hooks = platform.hooks(read, layer=Layer.INCLUDE, project_dir=project_dir)
        flaws: list[Note] = []
        named = _named([_runnable(hook, kit, flaws) for hook in hooks])
        for file in read:
            compiled[file.path] = ConfigFile(
                file=file.path,
                layer=Layer.INCLUDE,
                project_dir=project_dir,
                hooks=tuple(hook for hook in named if hook.source.file == file.path),
                notes=(*_notes(file), *(note for note in flaws if note.file == file.path)),
                digest=sha256(files[file.path][1]).hexdigest(),
            )
    return tuple(compiled[path] for path in files)


def _runnable(hook: Hook, kit: Kit, flaws: list[Note]) -> Hook:
    """The hook, or in its place one that says why it cannot run, so that nobody misses it."""
    kind = hook.handler.kind
    if "elsewhere" in hook.handler.values:
        # The file's note says it once, for all of them.
        return replace(hook, on_error=OnError.IGNORE)
    problems = kit.handlers[kind].check(hook.handler.values, hook, kit.services)
    if not problems:
        return hook
    flaws += [
        Note(hook.source.file, "broken", f"{hook.source}: {problem.message}")
        for problem in problems
    ]
    return replace(hook, handler=HandlerSpec("native", {"why": problems[0].message}))


def _notes(file: NativeFile) -> Iterable[Note]:
    if file.off:
        yield Note(file.path, "ignored", f"`{file.path}` is off on its own platform: {file.off}")
    same: dict[NativeFlaw, list[int]] = {}
    for flaw in file.flaws:
        same.setdefault(replace(flaw, line=0), []).append(flaw.line)
    for flaw, found in same.items():
        lines = ", ".join(str(line) for line in dict.fromkeys(found) if line)
        where = f"{file.path}:{lines}" if lines else file.path
        hint = f" ({flaw.hint})" if flaw.hint else ""
        kind = "doubt" if flaw.voids is Voids.NOTHING else "broken"
        yield Note(file.path, kind, f"{where}: {flaw.message}{hint}")


def _named(hooks: Sequence[Hook]) -> list[Hook]:
    """With a name for each that has none, and none twice."""
    taken: set[str] = set()
    named = []
    for hook in hooks:
        base = hook.name or f"{hook.speaks} {hook.native}"
        name, number = base, 1
        while name in taken:
            number += 1
            name = f"{base} ({number})"
        taken.add(name)
        named.append(replace(hook, name=name))
    return named
