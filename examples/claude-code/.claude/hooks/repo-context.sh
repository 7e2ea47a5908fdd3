#!/bin/bash
# Tells the model with each prompt where the repository stands.
branch=$(git branch --show-current 2>/dev/null)
jq -n --arg text "Current branch: ${branch:-none}" \
  '{hookSpecificOutput: {hookEventName: "UserPromptSubmit", additionalContext: $text}}'
