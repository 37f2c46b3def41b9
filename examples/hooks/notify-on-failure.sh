#!/bin/sh
# PostToolUseFailure: notes the failure in a file; a desktop notification would stand here as well.
jq -r '"\(.tool_name) failed: \(.error | split("\n")[0])"' >> "${CLAUDE_PROJECT_DIR:-.}/failures.log"
