#!/bin/bash
# Has a JSON file that does not parse looked at again. VS Code's tools say filePath, in camelCase.
file=$(jq -r '.tool_input.filePath // ""')
[[ $file == *.json && -f $file ]] || { echo '{}'; exit 0; }
if ! problem=$(jq empty "$file" 2>&1); then
  jq -n --arg problem "$problem" '{decision: "block", reason: "The file is no valid JSON.",
    hookSpecificOutput: {hookEventName: "PostToolUse", additionalContext: $problem}}'
else
  echo '{}'
fi
