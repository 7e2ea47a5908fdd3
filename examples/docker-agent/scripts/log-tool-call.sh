#!/bin/bash
# One line for each tool call in audit.log: when, in which session, which tool.
input=$(cat)
session=$(jq -r '.session_id' <<<"$input")
tool=$(jq -r '.tool_name' <<<"$input")
echo "$(date -u +%Y-%m-%dT%H:%M:%SZ) | $session | $tool" >> audit.log
echo '{"continue": true}'
