#!/bin/bash
# One line for each tool call. Printing nothing lets it go on.
jq -r '"\(.session_id) \(.tool_name)"' >> "$CLAUDE_PROJECT_DIR/tool-calls.log"
