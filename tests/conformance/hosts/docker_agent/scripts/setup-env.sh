#!/bin/sh
# Plain text is context on session_start.
cat > setup-env.json
echo "The environment is ready."
