"""Gives every written file a last line break, and keeps the whole input otherwise."""

import json
import sys

call = json.load(sys.stdin)
given = call["tool_input"]
text = given.get("content", "")
if call["hook_event_name"] == "PreToolUse" and text and not text.endswith("\n"):
    own = {
        "hookEventName": "PreToolUse",
        "updatedInput": {**given, "content": text + "\n"},
        "additionalContext": sys.argv[1],
    }
    print(json.dumps({"hookSpecificOutput": own}))
