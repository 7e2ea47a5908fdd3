#!/bin/sh
case "$(cat)" in
  *"curl"*)
    echo '{"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": {"behavior": "deny", "message": "No downloads."}}}' ;;
  *"ls"*)
    echo '{"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": {"behavior": "allow"}}}' ;;
esac
