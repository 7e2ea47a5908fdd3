#!/usr/bin/env bash
input=$(cat)
[[ $input == *'"stop_hook_active":true'* ]] && exit 0
echo '{"decision": "deny", "reason": "The tests have not run yet."}'
