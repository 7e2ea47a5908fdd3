#!/bin/bash
# A decision by exit code: 2 blocks, and stderr is the reason. `if` in settings.json chose the calls.
echo "Move files to .trash instead of deleting them." >&2
exit 2
