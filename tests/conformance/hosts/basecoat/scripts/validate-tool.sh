#!/bin/bash
# Blocks by the response envelope what a policy forbids.
if [[ "$(cat)" == *'rm -rf'* ]]; then
  echo '{"action": "block", "reason": "deleting trees is off limits"}'
else
  echo '{"action": "passThrough", "metadata": {"hookId": "validate-tool"}}'
fi
