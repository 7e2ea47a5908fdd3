"""Hook files for Copilot CLI."""

from hookline.dialects._copilot.write import CopilotWriter

__all__ = ["WRITER"]

WRITER = CopilotWriter()
