#!/bin/sh
case "$(cat)" in
  *'"loop_count":0'*) echo '{"followup_message": "Run the tests once more."}' ;;
esac
