#!/bin/bash
# Which sub-agent began and ended when.
jq -r '"\(.hook_event_name) \(.agent_type) \(.agent_id)"' >> subagents.log
echo '{}'
