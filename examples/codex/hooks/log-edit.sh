#!/bin/bash
# Edits arrive as apply_patch, whose patch is in tool_input.command.
jq -r '.tool_input.command' | grep -E '^\*\*\* (Add|Update|Delete) File:' >> edits.log
exit 0
