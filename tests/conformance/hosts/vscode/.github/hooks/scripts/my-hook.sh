#!/bin/bash
# The loop guard first, then the decision inside hookSpecificOutput, where Stop has it.
input=$(cat)
if [[ $input == *'"stop_hook_active":true'* ]]; then
  echo '{}'
  exit 0
fi
printf '{"hookSpecificOutput": {"hookEventName": "Stop", "decision": "block", "reason": "Run the test suite before finishing (%s)"}}\n' "$MY_VAR"
