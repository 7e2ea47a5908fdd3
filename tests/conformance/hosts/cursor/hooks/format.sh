#!/bin/sh
cat > formatted.json
