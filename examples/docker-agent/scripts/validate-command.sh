#!/bin/bash
# Refuses shell commands that become root or delete trees. Prints {} for "nothing to say".
input=$(cat)
tool=$(jq -r '.tool_name' <<<"$input")
command=$(jq -r '.tool_input.cmd // ""' <<<"$input")

if [[ $tool == shell ]] && [[ $command =~ ^sudo || $command =~ rm.*-rf ]]; then
  echo '{"decision": "block", "reason": "This repository allows neither sudo nor rm -rf."}'
  exit 2
fi
echo '{}'
