#!/bin/sh
cat >/dev/null
echo '{"decision": "block", "reason": "lint: unused import", "systemMessage": "lint ran"}'
