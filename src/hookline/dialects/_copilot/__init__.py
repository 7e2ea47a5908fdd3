"""What GitHub's two agents share: one hook protocol, in two casings."""

from hookline.dialects._copilot.codec import CopilotDialect

__all__ = ["CopilotDialect"]
