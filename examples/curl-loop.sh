#!/bin/sh
# A loop around the API of Anthropic with curl. Needs ANTHROPIC_API_KEY. The conversation is in the file `messages`.
tools=$(turnpipe tools --json --format anthropic)
echo '{"role":"user","content":"Fix the failing test."}' > messages
while :; do
    printf '{"model":"%s","max_tokens":8000,"stream":true,"tools":%s,"messages":[%s]}' \
        claude-sonnet-4-5 "$tools" "$(paste -sd, messages)" |
        curl -sN "${ANTHROPIC_BASE_URL:-https://api.anthropic.com}/v1/messages" -H "x-api-key: $ANTHROPIC_API_KEY" \
            -H 'anthropic-version: 2023-06-01' -H 'content-type: application/json' --data-binary @- |
        turnpipe run-tools --results anthropic > new || exit
    cat new >> messages
    grep -q '"tool_result"' new || break
done
