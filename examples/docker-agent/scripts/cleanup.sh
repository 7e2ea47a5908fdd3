#!/bin/bash
# Removes the notes' folder if nothing was written, and says why the session ended.
reason=$(jq -r '.reason')
rmdir .agent-notes 2>/dev/null
echo "session over: $reason" >> audit.log
