#!/bin/bash
# Where the conversation is, and why it stopped, for whoever takes it up.
jq -c '{session_id, transcript_path, event: .hook_event_name, reason}' >> "$CLAUDE_PROJECT_DIR/sessions.jsonl"
