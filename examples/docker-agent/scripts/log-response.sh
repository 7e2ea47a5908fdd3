#!/bin/bash
# Keeps what the model answered, one JSON object a line.
jq -c '{session_id, last_user_message, stop_response}' >> responses.jsonl
