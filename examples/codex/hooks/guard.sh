#!/bin/bash
# Denies as JSON, with a word to the person beside it.
if [[ "$(jq -r '.tool_input.command')" == *"rm -rf"* ]]; then
  echo '{"systemMessage": "A deletion was stopped.", "hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": "This project does not allow rm -rf."}}'
fi
