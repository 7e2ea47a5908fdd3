#!/bin/sh
case "$(cat)" in
  *'"command":"git '*) echo '{"permission": "deny", "user_message": "Git command blocked.", "agent_message": "Use the gh tool instead of raw git."}' ;;
  *"broken"*) echo "not json" ;;
  *"slow"*) exec sleep 60 ;;
  *) echo '{"permission": "allow"}' ;;
esac
