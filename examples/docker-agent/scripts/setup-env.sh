#!/bin/bash
# Makes the folder that the agent's notes go to. Plain text is context when a session starts.
source=$(jq -r '.source')
mkdir -p .agent-notes
echo "Notes of this session ($source) belong into .agent-notes."
