#!/bin/bash
# The loop guard first. For Stop the decision stands inside hookSpecificOutput.
if [ "$(jq -r '.stop_hook_active')" = true ]; then
  echo '{}'
  exit 0
fi
jq -n --arg command "$TEST_COMMAND" '{hookSpecificOutput: {hookEventName: "Stop", decision: "block",
  reason: "Run \($command) before you finish."}}'
