"""The Copilot cloud agent: what it supports, on top of what both of GitHub's agents share."""

from hookline.dialects._copilot import CopilotDialect
from hookline.dialects._support import load_support

__all__ = ["CopilotCloud"]


class CopilotCloud(CopilotDialect):
    """The dialect of the agent that works on GitHub: nobody is there to be asked."""

    id = "copilot-cloud"
    support = load_support(__file__)
