#!/bin/bash
# Keeps when prompts were sent and how long they were, and warns of one that looks like a password.
input=$(cat)
jq -r '"\(.timestamp) \(.session_id) \(.prompt | length) characters"' <<<"$input" >> prompts.log
if jq -e '.prompt | test("password\\s*[:=]"; "i")' <<<"$input" > /dev/null; then
  echo '{"systemMessage": "That prompt looks as if it held a password."}'
fi
