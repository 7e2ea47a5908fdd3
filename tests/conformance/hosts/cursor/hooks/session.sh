#!/bin/sh
cat >/dev/null
echo '{"additional_context": "Conventions are in docs/style.md."}'
