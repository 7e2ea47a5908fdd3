#!/bin/sh
# Plain text on stdout is context here.
cat >/dev/null
echo "Run the tests with make test."
