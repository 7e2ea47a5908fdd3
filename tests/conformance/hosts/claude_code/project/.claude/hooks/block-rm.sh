#!/bin/sh
# Exit code 2 blocks, and stderr is the reason.
if grep -q '"command":"rm -rf'; then
  echo "Destructive command blocked by hook" >&2
  exit 2
fi
exit 0
