"""Copilot CLI: what it supports, on top of what both of GitHub's agents share."""

from collections.abc import Mapping

from hookline.dialects._copilot import CopilotDialect
from hookline.dialects._support import load_support
from hookline.model.events import Event
from hookline.model.ports import Caller

__all__ = ["Copilot"]


class Copilot(CopilotDialect):
    """The dialect of GitHub Copilot CLI."""

    id = "copilot"
    support = load_support(__file__)

    def variables(self, event: Event, caller: Caller) -> Mapping[str, str]:
        """The project under both of its names, and the mark of this client."""
        project = caller.project_dir or event.cwd
        return {
            "COPILOT_CLI": "1",
            "COPILOT_PROJECT_DIR": project,
            "CLAUDE_PROJECT_DIR": project,
        }
