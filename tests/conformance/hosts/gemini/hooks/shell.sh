#!/usr/bin/env bash
input=$(cat)
case $input in
  *"rm -rf"*) echo "no" >&2; exit 2 ;;
  *"npm install"*) echo '{"hookSpecificOutput": {"hookEventName": "BeforeTool", "tool_input": {"command": "npm ci"}}}' ;;
  *"git push"*) echo '{"decision": "ask", "systemMessage": "Push to the shared branch?", "reason": "Push to the shared branch?"}' ;;
  *"shutdown"*) echo '{"continue": false, "stopReason": "This machine stays up."}' ;;
  *) echo "looked at it" ;;
esac
