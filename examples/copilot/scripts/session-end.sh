#!/bin/bash
# Sends the agent on, once, until there is a handoff note.
input=$(cat)
[ "$(jq -r '.stop_hook_active' <<<"$input")" = true ] && exit 0
[ -f HANDOFF.md ] && exit 0
echo '{"decision": "block", "reason": "Write HANDOFF.md for the next session first."}'
