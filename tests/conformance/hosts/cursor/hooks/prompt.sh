#!/bin/sh
case "$(cat)" in
  *sk-live-*) echo '{"continue": false, "user_message": "That looks like an API key."}' ;;
  *) echo '{"continue": true}' ;;
esac
