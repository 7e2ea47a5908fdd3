#!/bin/bash
# Sends one custom event to Application Insights. Without a connection string it does nothing.
# Only structure goes out: names, times, success. No prompt, no command line, no content of a file.
[ -n "$APPINSIGHTS_CONNECTION_STRING" ] || exit 0

part() { tr ';' '\n' <<<"$APPINSIGHTS_CONNECTION_STRING" | sed -n "s/^$1=//p"; }
endpoint=$(part IngestionEndpoint)

jq -c --arg key "$(part InstrumentationKey)" '{
  name: "Microsoft.ApplicationInsights.Event", time: .timestamp, iKey: $key,
  data: {baseType: "EventData", baseData: {ver: 2, name: .hook,
    properties: ({agent, sessionId, tool: .tool.name, success: .tool.success}
      | with_entries(select(.value != null) | .value |= tostring)),
    measurements: ({durationMs: .tool.durationMs} | with_entries(select(.value != null)))}}
}' | curl -s -m 4 -o /dev/null -H 'Content-Type: application/json' --data-binary @- "${endpoint%/}/v2/track"
exit 0
