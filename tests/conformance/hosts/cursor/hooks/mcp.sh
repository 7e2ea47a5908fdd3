#!/bin/sh
case "$(cat)" in
  *'"tool_name":"delete_everything"'*) exit 2 ;;
  *'"tool_name":"crash"'*) exit 1 ;;
  *) echo '{}' ;;
esac
