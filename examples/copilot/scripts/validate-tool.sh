#!/bin/bash
# Denies what deletes trees, asks before a push, and says nothing of the rest.
command=$(jq -r '.toolArgs | if type == "string" then (fromjson? // .) else . end | .command? // ""')
case $command in
  *"rm -rf"*)
    echo '{"permissionDecision": "deny", "permissionDecisionReason": "This repository does not allow rm -rf."}' ;;
  "git push"*)
    echo '{"permissionDecision": "ask", "permissionDecisionReason": "A push needs a person."}' ;;
esac
