"""The config in force for an event: loaded once, and looked at again for every event.

Knows when what it keeps no longer holds; which file counts in which bytes is for ``layers``.
"""

import os
import re
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from hookline.config.assemble import assemble
from hookline.config.discover import MANAGED_FILE, config_dirs, is_within, place_of, user_file
from hookline.config.layers import Layers, Look, Sources
from hookline.config.pause import Pause, pause_file, read_pause
from hookline.config.reading import Reading, Stamp, are_settled, stamp_of
from hookline.config.trust import TrustedSet, TrustStore
from hookline.config.types import Config, ConfigFile, Kit, Note
from hookline.model.errors import ConfigError, Problem, TrustError
from hookline.model.hook import Hook, Layer
from hookline.model.journal import UNTOLD
from hookline.model.ports import PinnedFiles

if TYPE_CHECKING:
    from hookline.config.contents import Contents
    from hookline.config.pins import Draft
    from hookline.config.runnable import RunProblem

__all__ = ["Loader", "Standing"]

KEPT = 64

_SHA256 = re.compile("[0-9a-f]{64}")


class Standing(Struct, frozen=True):
    """How it stands with one project config."""

    config: str
    trusted: TrustedSet | None = None
    changed: tuple[str, ...] = ()
    """Its files that do not lie on disk as they were trusted, or that came there since."""
    damage: str = ""

    @property
    def state(self) -> str:
        """``trusted``, ``changed``, ``missing``, ``untrusted`` or ``damaged``."""
        if self.damage:
            return "damaged"
        if self.trusted is None:
            return "untrusted"
        if not os.path.lexists(self.config):
            return "missing"
        return "changed" if self.changed else "trusted"


class _Kept(Struct, frozen=True):
    """What was loaded, and all that it depends on."""

    config: Config
    files: tuple[ConfigFile, ...]
    noted: tuple[Note, ...]
    stamps: Mapping[str, Stamp]
    pause: Pause | None
    paused: bool
    settled: bool

    def is_fresh(self, now: float) -> bool:
        """Whether loading again would find exactly the same."""
        paused = self.pause is not None and self.pause.holds(now)
        if not self.settled or self.paused != paused:
            return False
        # A plain loop: every event of every agent waits for it.
        for path, stamp in self.stamps.items():  # noqa: SIM110
            if stamp_of(path) != stamp:
                return False
        return True

    def is_equal(self, files: Sequence[ConfigFile], noted: Sequence[Note], paused: bool) -> bool:
        """Whether what was found this time is what was found before."""
        return (
            [*map(id, files)] == [*map(id, self.files)]
            and noted == self.noted
            and paused == self.paused
        )


class Loader:
    """Loads the configs in force; keeps them, and looks at every file again on every call."""

    def __init__(
        self,
        kit: Kit,
        home: str,
        env: Mapping[str, str],
        managed: str = MANAGED_FILE,
        config_override: str | None = None,
        trust_env: str | None = None,
        edited: bool = False,
        *,
        managed_owner: int = 0,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.home = home
        self.user_file = user_file(env)
        self.store = TrustStore(home)
        self._kit = kit
        self._override = os.path.abspath(config_override) if config_override else None
        self._named_by_a_person = edited or self._override is not None
        vouched = _vouched(trust_env)
        self._hashes: frozenset[str] = frozenset() if "all" in vouched else vouched
        self._layers = Layers(
            kit,
            self.store,
            Sources(
                managed=managed,
                managed_owner=managed_owner,
                user=self.user_file,
                override=self._override,
                edited=edited,
                vouched=vouched,
            ),
        )
        self._clock = clock
        self._contents: Contents | None = None
        self._kept: dict[tuple[str, ...], _Kept] = {}

    def load(self, root: str, cwd: str, paths: Sequence[str] = ()) -> Config:
        """Every hook in force for an event in the project at ``root``, at ``cwd``, on ``paths``.

        The same object as long as nothing changed. Raises ConfigError when a file that needs no
        trust is wrong, TrustError when what was trusted cannot be used.
        """
        try:
            return self._load(root, cwd, paths)
        except UnicodeEncodeError as error:
            coding = sys.getfilesystemencoding()
            message = f"no file can be called so while the names of files are in {coding}"
            hint = "give hookline a locale with UTF-8, such as LC_ALL=C.UTF-8"
            raise ConfigError([Problem(str(error.object), 0, message, hint)]) from error

    def _load(self, root: str, cwd: str, paths: Sequence[str]) -> Config:
        now = self._clock()
        dirs = () if self._override else config_dirs(root, cwd, paths)
        kept = self._kept.get(dirs)
        if kept is not None and kept.is_fresh(now):
            return kept.config
        look = Look()
        look.at(pause_file(self.home))
        pause = read_pause(self.home)
        paused = pause is not None and pause.holds(now)
        files = tuple(self._layers.files(dirs, look))
        noted = tuple(look.notes)
        if kept is not None and kept.is_equal(files, noted, paused):
            config = kept.config
        else:
            config = assemble(files, paused=paused)
            config = replace(config, notes=(*noted, *config.notes))
        settled = are_settled(look.stamps.values(), now)
        self._keep(dirs, _Kept(config, files, noted, look.stamps, pause, paused, settled))
        return config

    def pins_for(self, hook: Hook) -> PinnedFiles:
        """The files of a hook that was loaded here, in the bytes in which they may run."""
        # Only hooks with files of their own have a use for it.
        from hookline.config.copies import FreeFiles, HookFiles, UntrustedFiles, VouchedFiles

        if hook.source.layer in {Layer.MANAGED, Layer.USER, Layer.CODE}:
            return FreeFiles()
        try:
            trusted = self._layers.sets[hook.project_dir, hook.source.file]
        except KeyError:
            return UntrustedFiles()
        if trusted is not None:
            return HookFiles(hook, trusted)
        by_hash = self._hashes and not self._named_by_a_person
        return VouchedFiles(hook, self._hashes) if by_hash else FreeFiles()

    def find_run_problems(
        self, hook: Hook, env: Mapping[str, str], *, on_disk: bool = False
    ) -> "tuple[RunProblem, ...]":
        """Why a hook cannot run; ``on_disk``: as its files are there, trusted copies or not."""
        from hookline.config.runnable import find_run_problems

        trusted = self._layers.sets.get((hook.project_dir, hook.source.file))

        def runs_copy(path: str) -> bool:
            file = trusted.find(path) if trusted is not None and not on_disk else None
            return file is not None and not file.is_unchanged()

        def is_untrusted(path: str) -> bool:
            if trusted is None or on_disk or not is_within(path, trusted.project_dir):
                return False
            return trusted.find(path) is None and os.path.isfile(path)

        builtin = self._kit.services.builtin
        found = find_run_problems(
            hook, env, builtin=builtin, runs_copy=runs_copy, is_untrusted=is_untrusted
        )
        return tuple(found)

    def content_of(self, hook: Hook, home: str) -> str:
        """A digest of the files that a hook names, as they run; empty when it names none.

        ``home`` is the directory that the hook takes for the person's.
        """
        if not hook.runs_files:
            return ""
        if self._contents is None:
            from hookline.config.contents import Contents

            self._contents = Contents()
        trusted = self._layers.sets.get((hook.project_dir, hook.source.file))
        try:
            return self._contents.of(hook, trusted, home)
        except Exception:  # there are too many, or it is no command that anybody could read
            return UNTOLD

    def draft(self, config: str) -> "Draft":
        """What trusting a config as it is on disk would mean."""
        from hookline.config.pins import draft

        return draft(config, self._kit)

    def trust(self, config: str) -> TrustedSet:
        """Trust a config as it is on disk, for a caller that knows what is in it."""
        read = self.draft(config)
        return self.store.trust(read.config, read.readings)

    def trust_content(self, config: str, content: bytes) -> TrustedSet:
        """Trust a config in these bytes, whatever is on the disk; it may pin no other file."""
        place = place_of(config)
        return self.store.trust(place, [Reading(place, place, content)])

    def trusted_file(self, trusted: TrustedSet) -> ConfigFile:
        """A trusted set, compiled; raises ConfigError or TrustError when it cannot be any more."""
        return self._layers.trusted_file(trusted)

    def is_trusted(self, config: str) -> bool:
        """Whether some version of a config was trusted."""
        return self.store.find(config) is not None

    def standings(self, root: str, cwd: str) -> Iterator[Standing]:
        """How it stands with every project config that counts at ``cwd``."""
        for place in self._layers.places(config_dirs(root, cwd)):
            standing = self.standing(place)
            if standing.state != "untrusted" or os.path.lexists(place):
                yield standing

    def standing(self, config: str) -> Standing:
        """How it stands with one config, however it is spelled."""
        try:
            trusted = self.store.find_exactly(config) or self.store.find(config)
        except TrustError as error:
            return Standing(config, damage=str(error))
        if trusted is None:
            return Standing(config)
        changed = (*trusted.changed(), *self._layers.newcomers(trusted))
        return Standing(config, trusted, changed)

    def _keep(self, dirs: tuple[str, ...], kept: _Kept) -> None:
        self._kept.pop(dirs, None)
        self._kept[dirs] = kept
        if len(self._kept) > KEPT:
            del self._kept[next(iter(self._kept))]


def _vouched(words: str | None) -> frozenset[str]:
    """The digests in HOOKLINE_TRUST, or ``all``."""
    found = frozenset((words or "").replace(",", " ").split())
    for word in found:
        if word != "all" and not _SHA256.fullmatch(word):
            message = f"HOOKLINE_TRUST: `{word}` is neither `all` nor the sha256 of a config"
            raise TrustError(f"{message}, which is 64 digits from 0 to f")
    return found
