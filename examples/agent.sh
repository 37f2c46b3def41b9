#!/bin/sh
# A coding agent is a loop of filters. The session file is its only state. Needs `flock` of util-linux.
#
#   export TURNPIPE_MODEL=anthropic:claude-sonnet-4-5
#   agent.sh work.jsonl 'Fix the failing test.'     starts the session, or continues it
#   agent.sh work.jsonl                             says what was done
#
# Variables: MAX_TURNS, MAX_COST (US dollars), MAX_TIME (seconds), SCHEMA (a file: the last reply is JSON that fits
# it), ASK (who approves calls: `tty` or `deny`), REPORT (a file for the report), and options for `turn` and `run-tools`
# in TURN_OPTIONS and TOOL_OPTIONS. Commands run in a workspace, and need no approval there; SANDBOX=off lets them out.
# Exit status: 0 done; 11 stopped by a limit, a hook, an error or a signal.
set -u
session=${1:?usage: agent.sh SESSION [PROMPT]}
if [ -z "${2-}" ]; then
    turnpipe recap "$session" -o text && exec turnpipe session report "$session"
fi

# The lock ends with the last process of the loop. A signal also reaches the filters, which end a round in order.
exec 9>>"$session.lock"
flock -w 1 9 || { echo "another agent works in $session" >&2; exit 11; }
stopped=
trap 'stopped=yes' INT TERM HUP
[ ! -s "$session" ] || turnpipe --quiet recap --auto "$session" -o text >&2

ask=deny
[ ! -t 2 ] || ask='tty'
end=$(($(date +%s) + ${MAX_TIME:-3600}))
status=0
set -- --prompt "$2"
while [ $status -eq 0 ] && [ -z "$stopped" ] && left=$((end - $(date +%s))) && [ $left -gt 0 ]; do
    # A round is one reply. Its calls start while it arrives; all is recorded before the next round reads it.
    # shellcheck disable=SC2086 # options are words
    turnpipe turn --session "$session" --max-turns "${MAX_TURNS:-50}" ${MAX_COST:+--max-cost "$MAX_COST"} \
        ${SCHEMA:+--output-schema "$SCHEMA"} ${TURN_OPTIONS-} "$@" </dev/null |
        turnpipe run-tools --session "$session" --permission-prompt "${ASK:-$ask}" --timeout $left \
            --sandbox "${SANDBOX:-workspace}" ${TOOL_OPTIONS-} |
        turnpipe --quiet summarize-batch |
        turnpipe session append "$session" --exit-status
    status=$?
    set --
done

[ -s "$session" ] || exit 11
[ -n "$stopped" ] || turnpipe --quiet title --auto --write "$session" >/dev/null
turnpipe session report "$session" >>"${REPORT:-/dev/stderr}"
[ $status -eq 10 ] || exit 11
