#!/bin/bash
# Keeps the envelope, so that a test can look at it.
cat >> session-end.jsonl
echo >> session-end.jsonl
