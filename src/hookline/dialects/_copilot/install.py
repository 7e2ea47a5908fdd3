"""What hookline's own file among GitHub's hook files looks like, for both of its agents."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from hookline.dialects._copilot.names import is_pascal
from hookline.dialects._spoken import SpokenSettings

__all__ = ["CopilotHooks"]


class CopilotHooks(SpokenSettings):
    """Entries under camelCase keys, in seconds; when they are over the client lets the tool run.

    A PascalCase key would name the same moments. Its payload has Claude Code's tool names, in
    which `bash` and `powershell` are one, and could be VS Code's as well; this one is told from
    all others, and only this casing has `userPromptTransformed`.

    Any exit but 0 denies before a tool, yet the model learns no reason; where permission is asked
    only a 2 does, and for a prompt none. So refusals are said.
    """

    grouped = False
    frame: ClassVar[Mapping[str, object]] = {"version": 1}
    commands = ("bash", "command")
    timeout_key = "timeoutSec"

    def events(self) -> Sequence[str]:
        """Each moment once."""
        return [event for event in super().events() if not is_pascal(event)]
