#!/bin/sh
cat <<'JSON'
{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "ask",
 "permissionDecisionReason": "A push needs a person", "additionalContext": "The branch is protected"}}
JSON
