#!/bin/sh
# PostToolUse of Edit and Write: formats JSON files, and tells the model if one is broken.
file=$(jq -r '.tool_input.file_path // empty')
case $file in
  *.json)
    if formatted=$(jq . "$file" 2>&1); then
      printf '%s\n' "$formatted" > "$file"
    else
      printf '%s\n' "$formatted" >&2
      exit 2
    fi
    ;;
esac
