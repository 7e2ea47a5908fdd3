#!/usr/bin/env bash
cat >/dev/null
echo '{"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": "Recent work: the parser."}}'
