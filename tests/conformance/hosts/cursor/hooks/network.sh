#!/bin/sh
cat >/dev/null
echo '{"continue": true, "permission": "ask", "user_message": "This goes to the network.", "agent_message": "Network commands need a person."}'
