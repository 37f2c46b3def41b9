#!/bin/sh
# Says what another agent does while it works, one line for each batch of its tool calls:
#
#   label-stream.sh claude 'Fix the failing test.'
#
# Agents: claude, qwen, codex, gemini, pi and opencode. More arguments go to the agent.
set -u
agent=${1:?usage: label-stream.sh AGENT PROMPT [ARGUMENT...]}
prompt=${2:?usage: label-stream.sh AGENT PROMPT [ARGUMENT...]}
shift 2

case $agent in
claude) set -- -p --output-format stream-json --verbose "$@" "$prompt" ;;
qwen) set -- --output-format stream-json "$@" -p "$prompt" ;;
codex) set -- exec --json "$@" "$prompt" ;;
gemini) set -- --output-format stream-json "$@" -p "$prompt" ;;
pi) set -- --mode json "$@" "$prompt" ;;
opencode) set -- run --format json "$@" "$prompt" ;;
*)
    echo "label-stream.sh: $agent: not an agent whose stream is known" >&2
    exit 2
    ;;
esac

"$agent" "$@" </dev/null | turnpipe summarize-batch -o text
