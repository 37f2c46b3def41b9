#!/bin/sh
# PostToolUseFailure: notes the failure in a file; replace the last line by a desktop notification.
jq -r '"\(.tool_name) failed: \(.error | split("\n")[0])"' >> "${CLAUDE_PROJECT_DIR:-.}/failures.log"
