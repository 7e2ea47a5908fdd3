"""A platform's hook files where that platform itself looks for them, run here unchanged.

Knows places and stamps; asked for by a person or a program that hosts, never by a project's file.
"""

from collections.abc import Iterator, Mapping, Sequence

from msgspec.structs import replace

from hookline.config.natives import compile_natives, members
from hookline.config.reading import Reader, Stamp, file_names, stamp_of
from hookline.config.types import Config, ConfigFile, Kit
from hookline.model.errors import ConfigError, Problem, UnknownNameError
from hookline.model.hook import Hook, Layer
from hookline.model.native import NativePlace, Where
from hookline.model.ports import NativeFiles

__all__ = ["Hosted"]

_Places = list[tuple[str, tuple[NativePlace, ...]]]


class Hosted:
    """The files of some platforms, read again when any place has changed."""

    def __init__(self, kit: Kit, dialects: Sequence[str], where: Where) -> None:
        self._kit = kit
        self._where = where
        known = kit.natives()
        for name in dialects:
            if name not in known:
                raise UnknownNameError("platform with hook files", name, known)
        self._platforms = [known[name] for name in dict.fromkeys(dialects)]
        self._kept: tuple[_Places, Mapping[str, Stamp], tuple[ConfigFile, ...]] | None = None
        self._joined: tuple[Config, tuple[ConfigFile, ...], Config] | None = None

    def joined(self, config: Config, project: str) -> Config:
        """``config`` with the hooks of these platforms; the same object as long as it is both.

        Raises ConfigError when a file cannot be read at all.
        """
        files = self._files(replace(self._where, project=project))
        kept = self._joined
        if kept is None or kept[0] is not config or kept[1] is not files:
            joined = replace(
                config,
                files=(*config.files, *files),
                hooks=(*config.hooks, *(hook for file in files for hook in file.hooks)),
                notes=(*config.notes, *(note for file in files for note in file.notes)),
            )
            self._joined = kept = (config, files, joined)
        return kept[2]

    def _files(self, where: Where) -> tuple[ConfigFile, ...]:
        # A settings file or a new plugin may say that there is more to look at.
        places = [(where.project, tuple(each.places(where))) for each in self._platforms]
        if self._kept is not None:
            kept_places, stamps, files = self._kept
            if kept_places == places and all(stamp_of(path) == old for path, old in stamps.items()):
                return files
        seen: dict[str, Stamp] = {}
        found = tuple(
            file
            for platform, (project, each) in zip(self._platforms, places, strict=True)
            for file in self._of(platform, each, project, seen)
        )
        self._kept = (places, seen, found)
        return found

    def runs(self, hook: Hook) -> bool:
        """Whether a hook is from one of these files."""
        return self._kept is not None and any(hook in file.hooks for file in self._kept[2])

    def _of(
        self,
        platform: NativeFiles,
        places: Sequence[NativePlace],
        project: str,
        seen: dict[str, Stamp],
    ) -> Iterator[ConfigFile]:
        """All that one platform runs, by its own rules: some is written for others as well."""
        read = Reader()
        layers: dict[str, Layer] = {}
        contents: dict[str, tuple[NativeFiles, bytes]] = {}
        for place in (place for place in places if not place.is_off):
            for path in self._paths(place, platform, seen):
                seen[path] = stamp_of(path)
                try:
                    content = read(path)
                except (FileNotFoundError, NotADirectoryError):
                    continue
                except OSError as error:
                    problem = Problem(path, 0, f"cannot be read: {error.strerror}")
                    raise ConfigError([problem]) from error
                if path not in contents:
                    contents[path] = (self._reader(place, platform), content)
                    layers[path] = place.layer
        for file in compile_natives(contents, self._kit, project_dir=project):
            layer = layers[file.file]
            hooks = tuple(
                replace(hook, source=replace(hook.source, layer=layer)) for hook in file.hooks
            )
            yield replace(file, layer=layer, hooks=hooks)

    def _reader(self, place: NativePlace, platform: NativeFiles) -> NativeFiles:
        """By whose rules a file is run here that was written for another platform."""
        if place.dialect in platform.adopts:
            return platform
        return self._kit.natives().get(place.dialect, platform)

    def _paths(
        self, place: NativePlace, platform: NativeFiles, seen: dict[str, Stamp]
    ) -> list[str]:
        seen[place.path] = stamp_of(place.path)
        try:
            names = file_names(place.path)
        except OSError:
            return [place.path]
        return members(self._kit, place.path, names, place.dialect or platform.dialect)
