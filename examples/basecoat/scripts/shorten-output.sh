#!/bin/bash
# Gives the model the first line of a long output.
jq -c '(.tool.output // "" | tostring | split("\n")) as $lines
  | if ($lines | length) > 20
    then {action: "modify", modifiedOutput: "\($lines[0]) … and \(($lines | length) - 1) more lines"}
    else {action: "passThrough"} end'
