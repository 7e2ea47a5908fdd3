"""Claude Code."""

from hookline.dialects.claude_code.codec import ClaudeCode

DIALECT = ClaudeCode()
