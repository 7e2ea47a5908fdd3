#!/bin/bash
# Stop in an agent's own file is SubagentStop when another agent called it: then the decision
# stands at the top level.
input=$(cat)
[ "$(jq -r '.stop_hook_active' <<<"$input")" = true ] && { echo '{}'; exit 0; }
[ "$(jq -r '.hook_event_name' <<<"$input")" = SubagentStop ] || { echo '{}'; exit 0; }
echo '{"decision": "block", "reason": "Check each finding against the file before you report it."}'
