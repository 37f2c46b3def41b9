#!/bin/sh
# PreToolUse: refuses `rm -rf`. Exit 2 blocks the call, and the model is told what stands on stderr.
command=$(jq -r '.tool_input.command // empty')
if printf '%s' "$command" | grep -Eq '\brm +-[a-zA-Z]*(rf|fr)'; then
  echo "rm -rf is not allowed here; move it to the trash instead" >&2
  exit 2
fi
