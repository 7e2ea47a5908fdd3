#!/bin/bash
# Blocks by the response envelope what the policy forbids.
if [[ "$(cat)" == *'rm -rf'* ]]; then
  echo '{"action": "block", "reason": "This repository does not allow rm -rf."}'
else
  echo '{"action": "passThrough", "metadata": {"hookId": "validate-tool"}}'
fi
