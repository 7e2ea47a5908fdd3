#!/bin/sh
# Keeps the payload, so that a test can look at it.
cat > notify.json
