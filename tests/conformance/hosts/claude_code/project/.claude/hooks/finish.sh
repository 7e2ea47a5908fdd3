#!/bin/sh
# Once only: a hook that always blocks would never let the agent end.
if grep -q '"stop_hook_active":true'; then exit 0; fi
echo '{"decision": "block", "reason": "Run the tests before you finish"}'
