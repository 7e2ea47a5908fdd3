#!/bin/sh
case "$(cat)" in
  *"rm -rf"*)
    echo '{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": "Destructive command blocked by hook."}}' ;;
  *"npm install"*)
    echo '{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow", "updatedInput": {"command": "npm ci"}}}' ;;
  *"git push"*)
    echo "pushing is for people" >&2
    exit 2 ;;
  *"git status"*)
    echo '{"hookSpecificOutput": {"hookEventName": "PreToolUse", "additionalContext": "The work tree is shared."}}' ;;
  *)
    echo "nothing to say" ;;
esac
