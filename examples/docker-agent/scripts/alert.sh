#!/bin/bash
# Keeps warnings and errors of the agent.
jq -r '"[\(.notification_level)] \(.notification_message)"' >> alerts.log
