#!/bin/bash
# Leaves a handoff for the next session: when this one ended, where, and what git had not committed.
jq -c --arg open "$(git status --short 2>/dev/null)" \
  '{sessionId, timestamp, branch, uncommitted: ($open | split("\n") | map(select(. != "")))}' >> handoff.jsonl
