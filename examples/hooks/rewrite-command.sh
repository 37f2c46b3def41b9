#!/bin/sh
# PreToolUse: runs npm without its progress bar.
jq -c '
  select(.tool_input.command | test("^npm "))
  | {hookSpecificOutput: {
      hookEventName: "PreToolUse",
      updatedInput: (.tool_input + {command: (.tool_input.command + " --no-progress")})
    }}'
