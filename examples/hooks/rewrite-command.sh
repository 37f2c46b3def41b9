#!/bin/sh
# PreToolUse: lets the model only try out a push.
jq -c '
  select(.tool_input.command | test("^git push( |$)"))
  | {hookSpecificOutput: {
      hookEventName: "PreToolUse",
      updatedInput: (.tool_input | .command |= sub("^git push"; "git push --dry-run"))
    }}'
