"""llama.cpp's server on 127.0.0.1 with a model that is written here.
usage: llama.py PORT

The model has one block of zeros, so that what comes after a token depends on that token alone. After the
token that begins a reply it calls a tool; after the one that begins a reply to results, it answers.
"""

import sys
import tempfile
import time

import gguf
import numpy
import xllamacpp

CALL = ["<|act|>", "<tool_call>", '\n{"name":▁"Bash",▁"arguments":▁{"command":▁"pwd"}}\n', "</tool_call>", "<|end|>"]
ANSWER = ["<|answer|>", "There", "▁is", "▁a", "▁directory.", "<|end|>"]
TEMPLATE = """
{%- if tools %}<|start|>system
<tools>
{%- for tool in tools %}
{{ tool | tojson }}
{%- endfor %}
</tools>
Calls stand in <tool_call></tool_call>:
<tool_call>
{"name": <function-name>, "arguments": <args-json-object>}
</tool_call><|end|>
{% endif %}
{%- for message in messages %}<|start|>{{ message.role }}
{%- if message.role == 'tool' %}
<tool_response>
{{ message.content }}
</tool_response>
{%- elif message.tool_calls %}
{%- for call in message.tool_calls %}
<tool_call>
{"name": "{{ call.function.name }}", "arguments": {{ call.function.arguments | tojson }}}
</tool_call>
{%- endfor %}
{%- else %}
{{ message.content }}
{%- endif %}<|end|>
{% endfor %}
{%- if add_generation_prompt %}{% if messages[-1].role == 'tool' %}<|answer|>{% else %}<|act|>{% endif %}{% endif %}"""
CONTEXT = 65536


def kind(token):
    types = gguf.TokenType
    if token.startswith("<|"):
        return types.CONTROL
    if token in ("<tool_call>", "</tool_call>"):
        return types.USER_DEFINED
    return types.BYTE if token.startswith("<0x") else types.NORMAL


def write(path):
    tokens = ["<|unknown|>", "<|start|>", *CALL[:-1], *ANSWER, *(f"<0x{byte:02X}>" for byte in range(256))]
    number = {token: place for place, token in enumerate(tokens)}
    width = (len(tokens) + 31) // 32 * 32
    model = gguf.GGUFWriter(path, "llama")
    model.add_context_length(CONTEXT)
    model.add_embedding_length(width)
    model.add_block_count(1)
    model.add_feed_forward_length(32)
    model.add_head_count(width // 32)
    model.add_layer_norm_rms_eps(1e-5)
    model.add_rope_dimension_count(32)
    model.add_tokenizer_model("llama")
    model.add_token_list(tokens)
    model.add_token_scores([-float(place) for place in range(len(tokens))])
    model.add_token_types([kind(token) for token in tokens])
    model.add_unk_token_id(0)
    model.add_bos_token_id(number["<|start|>"])
    model.add_eos_token_id(number["<|end|>"])
    model.add_add_bos_token(False)
    model.add_chat_template(TEMPLATE)
    after = numpy.zeros((len(tokens), width), numpy.float32)
    for chain in (CALL, ANSWER):
        for token, following in zip(chain, chain[1:]):
            after[number[following], number[token]] = 30
    model.add_tensor("token_embd.weight", numpy.eye(len(tokens), width, dtype=numpy.float32))
    model.add_tensor("output.weight", after)
    for name in ("output_norm", "blk.0.attn_norm", "blk.0.ffn_norm"):
        model.add_tensor(f"{name}.weight", numpy.ones(width, numpy.float32))
    for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
        model.add_tensor(f"blk.0.{name}.weight", numpy.zeros((width, width), numpy.float32))
    for name, shape in (("gate", (32, width)), ("up", (32, width)), ("down", (width, 32))):
        model.add_tensor(f"blk.0.ffn_{name}.weight", numpy.zeros(shape, numpy.float32))
    model.write_header_to_file()
    model.write_kv_data_to_file()
    model.write_tensors_to_file()
    model.close()


with tempfile.NamedTemporaryFile(suffix=".gguf") as file:
    write(file.name)
    settings = xllamacpp.CommonParams()
    settings.model.path = file.name
    settings.port = int(sys.argv[1])
    settings.n_ctx = CONTEXT
    settings.n_parallel = 1
    settings.warmup = False
    settings.sampling.temp = 0
    server = xllamacpp.Server(settings)
    while True:
        time.sleep(60)
