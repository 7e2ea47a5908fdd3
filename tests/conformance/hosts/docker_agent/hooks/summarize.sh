#!/bin/sh
# Tells where and with what it was started.
echo "profile $PROFILE in $(basename "$PWD")"
