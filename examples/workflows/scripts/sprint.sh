#!/bin/sh
# Plain text is context: the first lines of the sprint's page, if there is one.
[ -f SPRINT.md ] && head -n 20 SPRINT.md
exit 0
