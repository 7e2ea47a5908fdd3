#!/bin/sh
case "$(cat)" in
  *password*)
    echo '{"decision": "block", "reason": "The output held a password and was removed.", "hookSpecificOutput": {"hookEventName": "PostToolUse", "additionalContext": "Never print passwords."}}' ;;
esac
