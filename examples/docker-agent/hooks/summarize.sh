#!/bin/sh
# Tells the model how much a command printed. Where it runs and PROFILE come from options.yaml.
lines=$(jq -r '.tool_response // ""' | wc -l | tr -d ' ')
echo "$lines lines of output (profile $PROFILE, in $(basename "$PWD"))"
