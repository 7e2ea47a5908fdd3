"""Copilot CLI: what it supports, on top of what both of GitHub's agents share."""

from hookline.dialects._copilot import CopilotDialect
from hookline.dialects._support import load_support

__all__ = ["Copilot"]


class Copilot(CopilotDialect):
    """The dialect of GitHub Copilot CLI."""

    id = "copilot"
    support = load_support(__file__)
