#!/bin/sh
grep -q '\.env"' && { echo "secrets stay where they are ($(basename "$CLAUDE_PLUGIN_ROOT"))" >&2; exit 2; }
exit 0
