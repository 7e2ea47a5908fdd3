#!/bin/bash
# Looks at each Python file that was edited; what is wrong with it goes back to the model.
file=$(jq -r '.tool_input.file_path // ""')
[[ $file == *.py ]] || exit 0
if ! problem=$(python3 -c 'import ast, sys; ast.parse(open(sys.argv[1]).read(), sys.argv[1])' "$file" 2>&1); then
  jq -n --arg problem "${problem##*$'\n'}" '{decision: "block", reason: $problem}'
fi
