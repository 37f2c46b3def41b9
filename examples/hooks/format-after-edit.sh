#!/bin/sh
# PostToolUse of Edit and Write: formats Rust files, and tells the model if that fails.
file=$(jq -r '.tool_input.file_path // empty')
case $file in
  *.rs)
    if ! message=$(rustfmt --edition 2024 "$file" 2>&1); then
      printf '%s\n' "$message" >&2
      exit 2
    fi
    ;;
esac
