#!/usr/bin/env bash
input=$(cat)
if [[ $input == *sk-live-* ]]; then
  echo '{"decision": "deny", "reason": "That looks like an API key."}'
else
  echo '{"hookSpecificOutput": {"hookEventName": "BeforeAgent", "additionalContext": "It is Monday."}}'
fi
