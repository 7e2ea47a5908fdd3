#!/bin/bash
input=$(cat)
case $input in
  *"rm -rf"*) echo '{"permissionDecision": "deny", "permissionDecisionReason": "Destructive commands are off limits."}' ;;
  *"npm install"*) echo '{"modifiedArgs": {"command": "npm ci"}, "additionalContext": "The lock file is the truth."}' ;;
  *"git push"*) echo '{"permissionDecision": "ask", "permissionDecisionReason": "Pushing needs a person."}' ;;
  *"nested"*) echo '{"hookSpecificOutput": {"permissionDecision": "deny", "permissionDecisionReason": "unheard"}}' ;;
esac
