#!/bin/bash
# An agent's Stop is a SubagentStop, whose decision stands at the top level.
input=$(cat)
[[ $input == *'"stop_hook_active":true'* ]] && { echo '{}'; exit 0; }
[[ $input == *'"hook_event_name":"SubagentStop"'* && $input == *'"agent_type":"Code Review Agent"'* ]] || exit 0
echo '{"decision": "block", "reason": "Verify subagent results before completing"}'
