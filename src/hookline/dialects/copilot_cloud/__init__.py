"""The GitHub Copilot cloud agent."""

from hookline.dialects.copilot_cloud.codec import CopilotCloud

DIALECT = CopilotCloud()
