"""Answers one request of a model API: standard input to standard output.

Usage: scripted_api.py anthropic|openai|responses|gemini|ollama whole|stream|list

A request without results is answered with two calls, one with their results with a text. Each
request is checked as the API does: a result for each call, in the form of that API, and the thoughts
of the model as they were.
"""

import json
import sys

API, FORM = sys.argv[1:]
CALLS = [("Bash", {"command": "echo one"}), ("Read", {"file_path": "no-such-file"})]
ANSWER = "Both are done."
SIGNATURE = "c2lnbmVk"


def check(condition, what):
    if not condition:
        sys.exit(f"400: {what}")


def print_events(events, named=False):
    for event in events:
        if named:
            print(f"event: {event['type']}", end="\r\n")
        print(f"data: {json.dumps(event)}", end="\r\n\r\n")


def print_body(body):
    print(json.dumps(body, indent=2))


def anthropic(request):
    messages = request["messages"]
    if len(messages) > 1:
        said, results = messages[1], messages[2]
        check(said["role"] == "assistant" and results["role"] == "user", "roles")
        thought, text, *calls = said["content"]
        check(thought["signature"] == SIGNATURE and thought["thinking"] == "I look.", "thinking")
        check(text == {"type": "text", "text": "Let me see."}, "text")
        check([(call["name"], call["input"]) for call in calls] == CALLS, "calls")
        answered = [block["tool_use_id"] for block in results["content"]]
        check(answered == [call["id"] for call in calls], "results")
        check([block["is_error"] for block in results["content"]] == [False, True], "errors")
        content = [{"type": "text", "text": ANSWER}]
    else:
        content = [
            {"type": "thinking", "thinking": "I look.", "signature": SIGNATURE},
            {"type": "text", "text": "Let me see."},
        ] + [
            {"type": "tool_use", "id": f"toolu_{number}", "name": name, "input": given}
            for number, (name, given) in enumerate(CALLS)
        ]
    message = {"id": f"msg_{len(messages)}", "type": "message", "role": "assistant", "model": "m",
               "content": content, "stop_reason": "tool_use" if len(content) > 1 else "end_turn",
               "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1}}
    if FORM == "whole":
        return print_body(message)
    events = [{"type": "message_start", "message": {**message, "content": [], "stop_reason": None}},
              {"type": "ping"}]
    for index, block in enumerate(content):
        kind = block["type"]
        if kind == "text":
            start = {**block, "text": ""}
            deltas = [{"type": "text_delta", "text": part} for part in (block["text"][:3], block["text"][3:])]
        elif kind == "thinking":
            start = {"type": kind, "thinking": "", "signature": ""}
            deltas = [{"type": "thinking_delta", "thinking": "I "},
                      {"type": "thinking_delta", "thinking": "look."},
                      {"type": "signature_delta", "signature": SIGNATURE}]
        else:
            start = {**block, "input": {}}
            given = json.dumps(block["input"])
            deltas = [{"type": "input_json_delta", "partial_json": part} for part in ("", given[:5], given[5:])]
        events.append({"type": "content_block_start", "index": index, "content_block": start})
        events += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
        events.append({"type": "content_block_stop", "index": index})
    events += [{"type": "message_delta", "delta": {"stop_reason": message["stop_reason"]}, "usage": {}},
               {"type": "message_stop"}]
    print_events(events, named=True)


def openai(request):
    messages = request["messages"]
    if len(messages) > 1:
        said, *results = messages[1:]
        check(said["role"] == "assistant" and said["content"] == "Let me see.", "message")
        check(said["reasoning_content"] == "I look.", "thinking")
        calls = [(call["function"]["name"], json.loads(call["function"]["arguments"]))
                 for call in said["tool_calls"]]
        check(calls == CALLS and all("index" not in call for call in said["tool_calls"]), "calls")
        check([result["role"] for result in results] == ["tool", "tool"], "roles")
        answered = [result["tool_call_id"] for result in results]
        check(answered == [call["id"] for call in said["tool_calls"]], "results")
        message = {"role": "assistant", "content": ANSWER}
    else:
        calls = [{"id": f"call_{number}", "type": "function",
                  "function": {"name": name, "arguments": json.dumps(given)}}
                 for number, (name, given) in enumerate(CALLS)]
        message = {"role": "assistant", "content": "Let me see.", "reasoning_content": "I look.",
                   "refusal": None, "tool_calls": calls}
    reason = "tool_calls" if "tool_calls" in message else "stop"
    if FORM == "whole":
        return print_body({"id": "c", "object": "chat.completion", "choices": [
            {"index": 0, "message": message, "finish_reason": reason}], "usage": {}})
    deltas = [{"role": "assistant", "content": ""}]
    deltas += [{"reasoning_content": part} for part in ("I ", "look.") if "tool_calls" in message]
    deltas += [{"content": message["content"][:3]}, {"content": message["content"][3:]}]
    for index, call in enumerate(message.get("tool_calls", [])):
        given = call["function"]["arguments"]
        deltas.append({"tool_calls": [{**call, "index": index, "function": {
            "name": call["function"]["name"], "arguments": ""}}]})
        deltas += [{"tool_calls": [{"index": index, "function": {"arguments": part}}]}
                   for part in (given[:4], given[4:])]
    print(": OPENROUTER PROCESSING\r\n\r\n", end="")
    chunks = [{"index": 0, "delta": delta, "finish_reason": None} for delta in deltas]
    chunks.append({"index": 0, "delta": {}, "finish_reason": reason})
    print_events([{"id": "c", "object": "chat.completion.chunk", "choices": [chunk]} for chunk in chunks]
                 + [{"id": "c", "object": "chat.completion.chunk", "choices": [], "usage": {}}])
    print("data: [DONE]\r\n\r\n", end="")


def responses(request):
    items = request["input"]
    if len(items) > 1:
        thought, *calls = items[1:4]
        check(thought["type"] == "reasoning" and thought["encrypted_content"] == SIGNATURE, "thinking")
        check([(call["name"], json.loads(call["arguments"])) for call in calls] == CALLS, "calls")
        results = items[4:]
        check(all(result["type"] == "function_call_output" for result in results), "results")
        answered = [result["call_id"] for result in results]
        check(answered == [call["call_id"] for call in calls], "ids")
        output = [{"type": "message", "id": "m", "role": "assistant", "status": "completed",
                   "content": [{"type": "output_text", "text": ANSWER}]}]
    else:
        output = [{"type": "reasoning", "id": "rs", "summary": [], "encrypted_content": SIGNATURE}] + [
            {"type": "function_call", "id": f"fc_{number}", "call_id": f"call_{number}", "name": name,
             "arguments": json.dumps(given), "status": "completed"}
            for number, (name, given) in enumerate(CALLS)]
    response = {"id": "r", "object": "response", "status": "completed", "output": output}
    if FORM == "whole":
        return print_body(response)
    events = [{"type": "response.created", "response": {**response, "output": []}}]
    for index, item in enumerate(output):
        events.append({"type": "response.output_item.added", "output_index": index,
                       "item": {**item, "status": "in_progress"}})
        if item["type"] == "function_call":
            events.append({"type": "response.function_call_arguments.delta", "output_index": index,
                           "delta": item["arguments"]})
        events.append({"type": "response.output_item.done", "output_index": index, "item": item})
    events.append({"type": "response.completed", "response": response})
    print_events(events, named=True)


def gemini(request):
    contents = request["contents"]
    if len(contents) > 1:
        said, results = contents[1], contents[2]
        check(said["role"] == "model" and results["role"] == "user", "roles")
        calls = [part for part in said["parts"] if "functionCall" in part]
        check([(part["functionCall"]["name"], part["functionCall"]["args"]) for part in calls] == CALLS, "calls")
        check(calls[0]["thoughtSignature"] == SIGNATURE, "signature")
        answers = [part["functionResponse"] for part in results["parts"]]
        check([answer["name"] for answer in answers] == [name for name, _ in CALLS], "names")
        # It gave no ids, so none may come back.
        check(all("id" not in answer for answer in answers), "ids")
        check([list(answer["response"]) for answer in answers] == [["output"], ["error"]], "errors")
        parts = [{"text": ANSWER}]
    else:
        parts = [{"text": "Let me see."}] + [
            {"functionCall": {"name": name, "args": given}} for name, given in CALLS]
        parts[1]["thoughtSignature"] = SIGNATURE
    chunks = [{"candidates": [{"content": {"role": "model", "parts": [part]}, "index": 0}],
               "responseId": str(len(contents))} for part in parts]
    chunks[-1]["candidates"][0]["finishReason"] = "STOP"
    if FORM == "stream":
        print_events(chunks)
    elif FORM == "list":
        # As streamGenerateContent prints it without alt=sse.
        print("[" + "\n,\r\n".join(json.dumps(chunk, indent=2) for chunk in chunks) + "\n]")
    else:
        whole = chunks[-1]
        whole["candidates"][0]["content"]["parts"] = parts
        print_body(whole)


def ollama(request):
    messages = request["messages"]
    if len(messages) > 1:
        said, *results = messages[1:]
        calls = [(call["function"]["name"], call["function"]["arguments"]) for call in said["tool_calls"]]
        check(calls == CALLS and said["content"] == "Let me see.", "message")
        check([result["tool_name"] for result in results] == [name for name, _ in CALLS], "results")
        message = {"role": "assistant", "content": ANSWER}
    else:
        message = {"role": "assistant", "content": "Let me see.", "tool_calls": [
            {"function": {"name": name, "arguments": given}} for name, given in CALLS]}
    if FORM == "whole":
        return print_body({"model": "m", "message": message, "done": True, "done_reason": "stop"})
    parts = [{"role": "assistant", "content": part} for part in (message["content"][:3], message["content"][3:])]
    parts += [{"role": "assistant", "content": "", "tool_calls": [call]} for call in message.get("tool_calls", [])]
    for part in parts:
        print(json.dumps({"model": "m", "message": part, "done": False}))
    print(json.dumps({"model": "m", "message": {"role": "assistant", "content": ""}, "done": True,
                      "done_reason": "stop"}))


request = json.load(sys.stdin)
{"anthropic": anthropic, "openai": openai, "responses": responses, "gemini": gemini, "ollama": ollama}[API](request)
