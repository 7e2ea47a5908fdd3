"""Kodelet's hooks: executables in ``.kodelet/hooks/``, each of which says what it is for.

Under the rules of the last version that shipped (``current``) a block ends the row. Under those of
ADR 021 (``adr``), which no release had, the last hook that does not fail counts alone, even by
saying nothing.
"""

import os
import re
from collections.abc import Sequence

from hookline.dialects._files import Files, is_hookline
from hookline.dialects.kodelet import DIALECT
from hookline.model.errors import IllegalValueError
from hookline.model.events import Event
from hookline.model.hook import Hook, Lane, Layer, Start
from hookline.model.native import NativeEntry, NativeFile, NativePlace, Where

__all__ = ["FILES", "KodeletFiles"]

_HOOKS = re.compile(r"(?:.*/)?\.kodelet/(?:plugins/([^/]+)/)?hooks/?")
_OFF = ".disable"
# What the kernel can start: a script with its interpreter, or a binary of Linux or macOS.
_PROGRAM = re.compile(rb"#!|\x7fELF|\xcf\xfa\xed\xfe|\xce\xfa\xed\xfe|\xca\xfe\xba\xbe")
# Moments of other platforms at which Kodelet would fire one of its events.
_ALSO = {
    "after_tool_call": ("post_tool_use_failure",),
    "user_message_send": ("steering_submit", "follow_up_submit"),
}
_CAN_BLOCK = {"before_tool_call", "user_message_send"}


class KodeletFiles(Files):
    """The hook files of Kodelet, under one version of its rules."""

    codec = DIALECT
    default_timeout = 30.0
    run_by = frozenset({"kodelet"})
    also = _ALSO

    def __init__(self, mode: str = "current") -> None:
        self._adr = mode == "adr"

    def in_mode(self, mode: str) -> "KodeletFiles":
        """``current`` or ``adr``."""
        if mode not in _MODES:
            raise IllegalValueError(f"`mode` is {' or '.join(_MODES)}, not `{mode}`")
        return _MODES[mode]

    # ── where ───────────────────────────────────────────────────────────────────────────────

    def owns(self, path: str, content: bytes) -> bool:
        """Whatever lies in a hooks directory of Kodelet's or of one of its plugins."""
        return _HOOKS.fullmatch(os.path.dirname(path)) is not None

    def members(self, directory: str, names: Sequence[str]) -> Sequence[str] | None:
        """All but those switched off by their name, in the order in which they run."""
        if _HOOKS.fullmatch(directory) is None:
            return None
        return [name for name in sorted(names) if not self._is_off(name)]

    def places(self, where: Where) -> Sequence[NativePlace]:
        """The project's before the person's, and plugins' after either."""
        found = []
        for base, layer, scope in (
            (where.project, Layer.PROJECT, "project"),
            (where.home, Layer.USER, "user"),
        ):
            own = os.path.join(base, ".kodelet")
            found.append(NativePlace(path=os.path.join(own, "hooks"), layer=layer, scope=scope))
            plugins = os.path.join(own, "plugins")
            names = [] if self._adr else _listed(plugins)
            paths = [os.path.join(plugins, name, "hooks") for name in names]
            found += [NativePlace(path=path, layer=layer, scope="plugin") for path in paths]
        return found

    def _is_off(self, name: str) -> bool:
        return name.endswith(_OFF) and not self._adr

    # ── what stands in them ─────────────────────────────────────────────────────────────────

    def read(self, path: str, content: bytes) -> NativeFile:
        """One executable, which could be for any of the events: only it knows."""
        off = ""
        if self._is_off(path):
            off = f"its name ends in `{_OFF}`"
        elif _PROGRAM.match(content) is None:
            off = "it is no program that can be started, for want of a `#!` line"
        known = self.codec.support.events
        events = () if off else [each for each in known if each != "turn_end" or not self._adr]
        entries = tuple(self._entry(each, path, content) for each in events)
        return NativeFile(dialect=self.dialect, path=path, entries=entries, off=off)

    def _entry(self, event: str, path: str, content: bytes) -> NativeEntry:
        return NativeEntry(
            event=event,
            command=(path, "run"),
            name=f"{_name(path)} {event}",
            sequential=True,
            options={"ours": _calls_hookline(content)},
        )

    # ── its rules ───────────────────────────────────────────────────────────────────────────

    def canonical(self, native: str) -> tuple[str, ...]:
        """By the ADR sub-agents have the same hooks, and stop as the main agent does."""
        found = super().canonical(native)
        return (*found, "subagent_stop") if self._adr and native == "agent_stop" else found

    def matches(self, entry: NativeEntry, event: Event) -> bool:
        """There is nothing to match: a hook sees each event it is for."""
        return True

    def lane(self, entry: NativeEntry, entries: Sequence[NativeEntry]) -> Lane:
        """One after another, all with the same input."""
        if self._adr:
            return Lane(name="kodelet adr", last_counts=True)
        if entry.event == "agent_stop":  # what all of them have to say is said
            return Lane(name="kodelet")
        blocks = entry.event in _CAN_BLOCK
        return Lane(name="kodelet", deny_ends=blocks, last_counts=True, silence_counts=not blocks)

    def start(self, entry: NativeEntry) -> Start:
        """Where the agent works; asked first what it is for."""
        return Start(in_cwd=True, answers_to=(entry.command[0], "hook"))

    def hooks(
        self, files: Sequence[NativeFile], *, layer: Layer, project_dir: str
    ) -> tuple[Hook, ...]:
        """Of several with one name the first directory's; the others are never asked."""
        taken: set[str] = set()
        kept = []
        for file in files:
            name = _name(file.path)
            if file.off or name in taken or any(each.options["ours"] for each in file.entries):
                continue
            if _can_run(file.path):
                taken.add(name)
            kept.append(file)
        return super().hooks(kept, layer=layer, project_dir=project_dir)


def _name(path: str) -> str:
    """What Kodelet calls a hook: the file's name, after that of a plugin it belongs to."""
    directory, name = os.path.split(path)
    found = _HOOKS.fullmatch(directory)
    plugin = found[1] if found is not None else None
    return f"{plugin.replace('@', '/')}/{name}" if plugin else name


def _can_run(path: str) -> bool:
    try:
        return bool(os.stat(path).st_mode & 0o111)
    except OSError:
        return True  # gone from the disk, but in force as it was trusted


def _calls_hookline(content: bytes) -> bool:
    lines = content[:100_000].decode("utf-8", "replace").splitlines()
    return any(is_hookline(line) for line in lines if not line.lstrip().startswith("#"))


def _listed(directory: str) -> list[str]:
    try:
        return sorted(os.listdir(directory))
    except OSError:
        return []


_MODES = {mode: KodeletFiles(mode) for mode in ("current", "adr")}
FILES = _MODES["current"]
