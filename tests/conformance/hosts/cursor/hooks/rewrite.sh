#!/bin/sh
case "$(cat)" in
  *"npm install"*) echo '{"permission": "allow", "updated_input": {"command": "npm ci"}}' ;;
esac
