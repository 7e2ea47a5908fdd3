#!/bin/sh
# Asks the service whether it is well.
exec curl -fsS -m 5 "${SERVICE_URL:-http://127.0.0.1:8080}/healthz"
