#!/usr/bin/env bash
input=$(cat)
if [[ $input == *api_key* || $input == *password* ]]; then
  echo "Blocked potential secret" >&2
  echo '{"decision": "deny", "reason": "Security Policy: Potential secret detected in content.", "systemMessage": "Security scanner blocked operation"}'
  exit 0
fi
echo '{"decision": "allow"}'
