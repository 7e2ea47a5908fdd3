#!/bin/sh
# arm | deployed | check | disarm: one file for each session that deploys.
state=".watchdog/$(printf %s "$HOOKLINE_SESSION_ID" | tr -c 'A-Za-z0-9-' _)"
case "$1" in
  arm)
    mkdir -p .watchdog && : > "$state"
    echo "A watchdog is armed: run ./scripts/health-check.sh after the deployment." ;;
  deployed)
    if [ -f "$state" ]; then echo "$HOOKLINE_COMMAND" >> "$state"; fi ;;
  check)
    if [ -s "$state" ]; then
      echo "Deployed and not checked: $(tail -n 1 "$state"). Run ./scripts/health-check.sh." >&2
      exit 2
    fi ;;
  disarm)
    rm -f "$state" ;;
esac
