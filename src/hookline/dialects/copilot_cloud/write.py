"""Hook files for the Copilot cloud agent."""

from hookline.dialects._copilot.write import CopilotWriter

__all__ = ["WRITER"]

WRITER = CopilotWriter()
