#!/bin/bash
# Keeps the last answer of each turn. It has to answer with JSON or nothing.
jq -c '{session_id, last_assistant_message}' >> answers.jsonl
