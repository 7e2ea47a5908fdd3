#!/bin/sh
cat >/dev/null
echo '{"additional_context": "Remember the change log.", "updated_mcp_tool_output": {"content": [{"type": "text", "text": "redacted"}]}}'
