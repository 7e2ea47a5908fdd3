#!/bin/sh
case "$(cat)" in
  *"BEGIN PRIVATE KEY"*) echo '{"permission": "deny", "user_message": "The file holds a key."}' ;;
  *) echo '{"permission": "allow"}' ;;
esac
