#!/usr/bin/env bash
input=$(cat)
case $input in
  *password*) echo '{"decision": "deny", "reason": "The result held a password."}' ;;
  *execution_failed*) echo '{"hookSpecificOutput": {"additionalContext": "It failed before, too."}}' ;;
esac
