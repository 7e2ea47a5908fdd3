"""Gemini CLI's hooks: ``hooks`` in its settings and in extensions, by Gemini CLI's own rules.

Times are milliseconds, one sequential group makes all of its event sequential, and whatever
crashes or takes too long lets the tool run.
"""

import os
import re
from collections.abc import Sequence
from glob import glob
from shlex import quote

from msgspec.structs import replace

from hookline.dialects._entries import names_any, shown_to
from hookline.dialects._files import Files
from hookline.dialects._located import Located, UnreadableText, read_object
from hookline.dialects._patterns import found, is_pattern
from hookline.dialects.gemini import DIALECT
from hookline.dialects.gemini.entries import LITERAL, TOOL_EVENTS, Reading
from hookline.model.events import Event
from hookline.model.hook import Hook, Lane, Layer, Start
from hookline.model.native import NativeEntry, NativeFile, NativeFlaw, NativePlace, Voids, Where

__all__ = ["FILES", "GeminiFile", "GeminiFiles"]

# In a sequence, what one hook changes on these is what the next one is shown.
_CHAINED = {"BeforeAgent", "BeforeModel", "BeforeTool"}
_ONLY_HERE = set(DIALECT.support.events) - {"SessionStart", "SessionEnd", "Notification"}
# Moments of other platforms at which Gemini CLI would fire one of its events.
_ALSO = {
    "AfterTool": ("post_tool_use_failure",),
    "SessionStart": ("session_resume",),
    "BeforeAgent": ("steering_submit", "follow_up_submit"),
}
_PROJECT = re.compile(r"(?<!\")\$(?:GEMINI_PROJECT_DIR|GEMINI_CWD|CLAUDE_PROJECT_DIR)\b")


class GeminiFile(NativeFile, frozen=True, kw_only=True):
    """One file, and what its ``hooksConfig`` says about hooks in others as well."""

    switch: bool | None = None
    disabled: frozenset[str] = frozenset()
    """Names of hooks, or commands of those without a name."""


class GeminiFiles(Files):
    """The hook files of Gemini CLI."""

    codec = DIALECT
    default_timeout = 60.0
    run_by = frozenset({"gemini"})
    also = _ALSO

    # ── where ───────────────────────────────────────────────────────────────────────────────

    def owns(self, path: str, content: bytes) -> bool:
        """Settings in their places, hooks of extensions, and files with events of no other."""
        if path.endswith(("/.gemini/settings.json", "/gemini-cli/settings.json")):
            return True
        if not path.endswith(".json"):
            return False
        return "/.gemini/extensions/" in path or names_any(content, _ONLY_HERE)

    def members(self, directory: str, names: Sequence[str]) -> Sequence[str] | None:
        """The settings."""
        if os.path.basename(os.path.normpath(directory)) != ".gemini":
            return None
        return [name for name in ("settings.json",) if name in names]

    def places(self, where: Where) -> Sequence[NativePlace]:
        """The project's settings, the person's, the machine's, then extensions."""
        name = ".gemini/settings.json"
        machine = where.env.get("GEMINI_CLI_SYSTEM_SETTINGS_PATH") or os.path.join(
            where.root, "etc/gemini-cli/settings.json"
        )
        found_at = (
            (os.path.join(where.project, name), Layer.PROJECT, "project"),
            (os.path.join(where.home, name), Layer.USER, "user"),
            (machine, Layer.MANAGED, "system"),
            *(
                (each, layer, "extension")
                for base, layer in ((where.project, Layer.PROJECT), (where.home, Layer.USER))
                for each in sorted(glob(f"{base}/.gemini/extensions/*/hooks/hooks.json"))
            ),
        )
        return tuple(
            NativePlace(path=path, layer=layer, scope=scope) for path, layer, scope in found_at
        )

    # ── what is in them ─────────────────────────────────────────────────────────────────────

    def read(self, path: str, content: bytes) -> GeminiFile:
        """What stands in a settings file or an extension's ``hooks.json``."""
        try:
            root = read_object(content)
        except UnreadableText as error:
            hint = "Gemini CLI does not start with it"
            flaw = NativeFlaw(error.line, error.message, hint, Voids.FILE)
            return GeminiFile(dialect=self.dialect, path=path, flaws=(flaw,))
        reading = Reading(path)
        entries = tuple(reading.events(root.members.get("hooks", Located({}, root.line))))
        config = root.members.get("hooksConfig", Located({}, root.line))
        switch, names = config.get("enabled"), config.get("disabled")
        disabled = frozenset(map(str, names if isinstance(names, list) else ()))
        notes = (
            NativeFlaw(config.line_of("disabled"), f"`{name}` is disabled here", "", Voids.NOTHING)
            for name in sorted(disabled)
        )
        return GeminiFile(
            dialect=self.dialect,
            path=path,
            entries=entries,
            flaws=(*reading.flaws, *notes),
            off="`hooksConfig.enabled` in it is false" if switch is False else "",
            switch=switch if isinstance(switch, bool) else None,
            disabled=disabled,
        )

    # ── rules ───────────────────────────────────────────────────────────────────────────────

    def matches(self, entry: NativeEntry, event: Event) -> bool:
        """A regex, found anywhere in a tool's name; of a trigger, the very word."""
        matcher = (entry.matcher or "").strip()
        is_tool, key = entry.event in TOOL_EVENTS, LITERAL.get(entry.event)
        if matcher in {"", "*"} or not (is_tool or key):
            return True
        value = str(shown_to(entry, event, self.codec).get(key or "tool_name", ""))
        return found(matcher, value) if is_tool and is_pattern(matcher) else matcher == value

    def lane(self, entry: NativeEntry, entries: Sequence[NativeEntry]) -> Lane | None:
        """One definition that wants a sequence makes one of all hooks of the event."""
        if not any(each.sequential for each in entries):
            return None
        return Lane(name=f"gemini {entry.event}", piped=entry.event in _CHAINED)

    def twin(self, entry: NativeEntry) -> object:
        """The same command under the same name runs once."""
        return None if entry.flaw else f"{entry.name}:{entry.command}"

    def start(self, entry: NativeEntry) -> Start:
        """In bash, in the project."""
        return Start(interpreter=("bash", "-c"), variables=entry.env)

    def hooks(
        self, files: Sequence[NativeFile], *, layer: Layer, project_dir: str
    ) -> tuple[Hook, ...]:
        """Without what is disabled; the switches of all files count for all of them."""
        own = [file for file in files if isinstance(file, GeminiFile)]
        # The machine's settings overrule the project's, and those the person's.
        ranked = sorted(own, key=lambda file: not file.path.endswith("/gemini-cli/settings.json"))
        if next((file.switch for file in ranked if file.switch is not None), True) is False:
            return ()
        disabled = frozenset(name for file in own for name in file.disabled)
        kept = [
            replace(
                file,
                off="",
                entries=tuple(e for e in file.entries if (e.name or e.command) not in disabled),
            )
            for file in own
        ]
        return super().hooks(kept, layer=layer, project_dir=project_dir)

    def _placed(self, entry: NativeEntry, project_dir: str) -> NativeEntry:
        """Gemini CLI writes the project into the command itself, quoted for the shell."""
        command = entry.command
        if not project_dir or not isinstance(command, str):
            return entry
        return super()._placed(
            replace(entry, command=_PROJECT.sub(lambda _: quote(project_dir), command)),
            project_dir,
        )


FILES = GeminiFiles()
