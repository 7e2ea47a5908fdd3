#!/bin/bash
input=$(cat)
case $input in
  *'"stop_hook_active":true'*) ;;
  *) echo '{"decision": "block", "reason": "Write the handoff note first."}' ;;
esac
