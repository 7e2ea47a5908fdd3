#!/bin/bash
# A decision as JSON: denied, with a reason that the model reads.
command=$(jq -r '.tool_input.command')
if [[ $command =~ (^|[[:space:]])(curl|wget)[[:space:]] ]]; then
  echo '{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": "This project works without network access."}}'
fi
