#!/bin/bash
# Reminds the agent of a fix before it runs into the same failure again.
if [[ "$(jq -r '.tool.input.command // ""')" == *package* ]]; then
  echo '{"action": "injectContext", "additionalContext": ["Known fix: delete dist before you package."]}'
fi
