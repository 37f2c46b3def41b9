#!/bin/sh
# A coding agent made of filters. The session file, and the labels beside it, are its only state:
#
#   export TURNPIPE_MODEL=anthropic:claude-sonnet-4-5
#   agent.sh work.jsonl 'Fix the failing test.'     begins, or goes on with what it says
#   agent.sh work.jsonl                             says where the work stands
#
# Variables: ASK (who is asked about calls: `tty`, or `deny` where nobody sits), MAX_TURNS, and more
# options for `turn` and `run-tools` in TURN_OPTIONS and TOOL_OPTIONS. Statuses: 0 the agent is done;
# 11 a limit, a hook, an error or an interrupt stopped it.
set -u
session=${1:?usage: agent.sh SESSION [PROMPT]}
prompt=${2-}
case ${ASK-} in
'') if [ -t 2 ]; then ASK='tty'; else ASK='deny'; fi ;;
esac

if [ -z "$prompt" ]; then
    exec turnpipe recap "$session" -o text
fi
if [ -s "$session" ]; then
    turnpipe --quiet recap --auto "$session" -o text >&2
fi

work=$(mktemp -d) || exit 74
interrupted=
trap 'rm -rf "$work"' EXIT
trap 'interrupted=yes' INT TERM HUP

# Each round is one reply: its calls start while the model still speaks. All is recorded before it is
# passed on, so that the next round can read it. What is said goes to the model in the first round only.
rounds() {
    # A subshell starts without the traps. The stages end by themselves, and then the round does.
    trap 'interrupted=yes' INT TERM HUP
    set -- --prompt "$prompt"
    while :; do
        # shellcheck disable=SC2086 # options are words
        turnpipe turn --session "$session" --max-turns "${MAX_TURNS:-50}" ${TURN_OPTIONS-} "$@" </dev/null |
            turnpipe run-tools --session "$session" --permission-prompt "$ASK" ${TOOL_OPTIONS-} |
            turnpipe session append "$session" --exit-status
        status=$?
        set --
        [ $status -eq 0 ] || break
        [ -z "$interrupted" ] || { status=11 && break; }
    done
    echo "$status" >"$work/status"
}

# Labels are made beside the rounds: that of one batch while the model answers to its results. Each is
# recorded as it comes, in `$session.turnpipe.jsonl`: the rounds write to the session meanwhile.
rounds | turnpipe --quiet summarize-batch --record "$session"
[ ! -s "$session" ] || [ -n "$interrupted" ] || turnpipe --quiet title --auto --write "$session" >/dev/null

status=$(cat "$work/status")
[ "$status" -ne 10 ] || exit 0
exit "$status"
