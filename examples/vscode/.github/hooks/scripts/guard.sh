#!/bin/bash
# Denies destructive commands. VS Code runs it for every tool: matchers are ignored there.
command=$(jq -r '.tool_input.command // ""')
if [[ $command == *"rm -rf"* ]]; then
  jq -n '{hookSpecificOutput: {hookEventName: "PreToolUse", permissionDecision: "deny",
    permissionDecisionReason: "This workspace does not allow rm -rf.",
    additionalContext: "Delete single files by name instead."}}'
else
  echo '{}'
fi
