"""Writes a language model that always says the same: each token decides the next one. It calls a tool before it answers."""

import sys

import gguf
import numpy as np

ANSWER = ["Seven ", "pieces ", "left."]
CALL = '<tool_call>\n{"name": "workspace_info", "arguments": {}}\n</tool_call>'
ASKED, TOLD = "assistant asked:", "assistant told:"

# A prompt ends with a token that says whether the model has a tool's result.
TEMPLATE = (
    "{% if tools %}<tools>{% for tool in tools %}{{ tool | tojson }}{% endfor %}</tools>{% endif %}"
    "{% for message in messages %}{{ message.role }}: {{ message.content or '' }}"
    "{% for call in message.tool_calls or [] %}<tool_call>\n"
    '{"name": "{{ call.function.name }}", "arguments": {{ call.function.arguments | tojson }}}\n</tool_call>'
    "{% endfor %}\n{% endfor %}"
    "{% if add_generation_prompt %}"
    "{% if tools and messages[-1].role != 'tool' %}" + ASKED + "{% else %}" + TOLD + "{% endif %}"
    "{% endif %}"
)

special = {"<unk>": gguf.TokenType.UNKNOWN, "<s>": gguf.TokenType.CONTROL, "</s>": gguf.TokenType.CONTROL}
written = [ASKED, TOLD, CALL, *ANSWER]
tokens = [*special, *(f"<0x{byte:02X}>" for byte in range(256)), *written]
types = [*special.values(), *[gguf.TokenType.BYTE] * 256, *[gguf.TokenType.USER_DEFINED] * len(written)]
END = tokens.index("</s>")
following = {ASKED: CALL, CALL: "</s>", TOLD: ANSWER[0], **dict(zip(ANSWER, [*ANSWER[1:], "</s>"]))}

# One dimension for each token. The layer adds nothing.
size = -(-len(tokens) // 32) * 32
embeddings = np.zeros((len(tokens), size), np.float32)
output = np.zeros((len(tokens), size), np.float32)
for token in range(len(tokens)):
    embeddings[token, token] = 1
    output[tokens.index(following[tokens[token]]) if tokens[token] in following else END, token] = 10

model = gguf.GGUFWriter(sys.argv[1], "llama")
model.add_context_length(32_768)
model.add_embedding_length(size)
model.add_block_count(1)
model.add_feed_forward_length(32)
model.add_head_count(1)
model.add_head_count_kv(1)
model.add_layer_norm_rms_eps(1e-5)
model.add_rope_dimension_count(size)
model.add_vocab_size(len(tokens))
model.add_tokenizer_model("llama")
model.add_token_list(tokens)
model.add_token_scores([0.0] * len(tokens))
model.add_token_types([int(kind) for kind in types])
model.add_bos_token_id(tokens.index("<s>"))
model.add_eos_token_id(END)
model.add_unk_token_id(0)
model.add_add_space_prefix(False)
model.add_chat_template(TEMPLATE)
model.add_tensor("token_embd.weight", embeddings)
model.add_tensor("output.weight", output)
for name in ("output_norm", "blk.0.attn_norm", "blk.0.ffn_norm"):
    model.add_tensor(f"{name}.weight", np.ones(size, np.float32))
for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
    model.add_tensor(f"blk.0.{name}.weight", np.zeros((size, size), np.float32))
for name in ("ffn_gate", "ffn_up"):
    model.add_tensor(f"blk.0.{name}.weight", np.zeros((32, size), np.float32))
model.add_tensor("blk.0.ffn_down.weight", np.zeros((size, 32), np.float32))
model.write_header_to_file()
model.write_kv_data_to_file()
model.write_tensors_to_file()
model.close()
