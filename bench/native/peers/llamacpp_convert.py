"""Writes a Hugging Face folder in float32 as GGUF, quantised by llama.cpp: FROM
TO FORM, where FORM is f32, f16, bf16 or a type of llama.cpp; "-pure" keeps it
from storing embeddings in a larger one.
"""

import ctypes
import json
import os
import sys

import gguf
import llama_cpp
import numpy

source, target, form = sys.argv[1:]


def read_json(name):
    with open(os.path.join(source, name), encoding="utf-8") as f:
        return json.load(f)


def tensors():
    """The tensors of model.safetensors: the format is a length, a JSON header, bytes."""
    path = os.path.join(source, "model.safetensors")
    with open(path, "rb") as f:
        size = int.from_bytes(f.read(8), "little")
        header = json.loads(f.read(size))
    header.pop("__metadata__", None)
    data = numpy.memmap(path, dtype=numpy.uint8, mode="r", offset=8 + size)
    for name, t in header.items():
        assert t["dtype"] == "F32", f"{name} is {t['dtype']}"
        begin, end = t["data_offsets"]
        yield name, data[begin:end].view(numpy.float32).reshape(t["shape"])


def interleave(w, heads):
    """llama.cpp rotates neighbouring rows of a head, Hugging Face the halves."""
    return w.reshape(heads, 2, w.shape[0] // heads // 2, *w.shape[1:]).swapaxes(1, 2).reshape(w.shape)


NAMES = {
    "model.embed_tokens.weight": "token_embd.weight",
    "model.norm.weight": "output_norm.weight",
    "lm_head.weight": "output.weight",
    "input_layernorm": "attn_norm",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "post_attention_layernorm": "ffn_norm",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}


def gguf_name(name):
    if name in NAMES:
        return NAMES[name]
    _, _, layer, part = name.split(".", 3)
    part, kind = part.rsplit(".", 1)
    return f"blk.{layer}.{NAMES[part]}.{kind}"


def write(path):
    config, tokenizer = read_json("config.json"), read_json("tokenizer.json")
    w = gguf.GGUFWriter(path, "llama")
    heads, kv_heads = config["num_attention_heads"], config["num_key_value_heads"]
    w.add_name("SmolLM2-135M-Instruct")
    w.add_context_length(config["max_position_embeddings"])
    w.add_embedding_length(config["hidden_size"])
    w.add_block_count(config["num_hidden_layers"])
    w.add_feed_forward_length(config["intermediate_size"])
    w.add_head_count(heads)
    w.add_head_count_kv(kv_heads)
    w.add_rope_dimension_count(config["hidden_size"] // heads)
    w.add_rope_freq_base(config["rope_theta"])
    w.add_layer_norm_rms_eps(config["rms_norm_eps"])
    w.add_vocab_size(config["vocab_size"])
    w.add_file_type(gguf.LlamaFileType.ALL_F32)

    vocabulary = tokenizer["model"]["vocab"]
    special = {t["id"] for t in tokenizer["added_tokens"] if t["special"]}
    kinds = [gguf.TokenType.CONTROL if i in special else gguf.TokenType.NORMAL for i in range(len(vocabulary))]
    w.add_tokenizer_model("gpt2")
    w.add_tokenizer_pre("smollm")
    w.add_token_list(sorted(vocabulary, key=vocabulary.get))
    w.add_token_types(kinds)
    w.add_token_merges([m if isinstance(m, str) else " ".join(m) for m in tokenizer["model"]["merges"]])
    w.add_bos_token_id(config["bos_token_id"])
    w.add_eos_token_id(config["eos_token_id"])
    w.add_add_bos_token(False)

    for name, value in tensors():
        if name.endswith("q_proj.weight"):
            value = interleave(value, heads)
        elif name.endswith("k_proj.weight"):
            value = interleave(value, kv_heads)
        w.add_tensor(gguf_name(name), numpy.ascontiguousarray(value))
    w.write_header_to_file()
    w.write_kv_data_to_file()
    w.write_tensors_to_file()
    w.close()


if form == "f32":
    write(target)
    sys.exit()
whole = target + ".f32"
write(whole)
try:
    kind, _, pure = form.partition("-")
    params = llama_cpp.llama_model_quantize_default_params()
    params.ftype = getattr(llama_cpp, f"LLAMA_FTYPE_MOSTLY_{kind.upper()}")
    params.nthread = os.cpu_count()
    params.pure = pure == "pure"
    if llama_cpp.llama_model_quantize(whole.encode(), target.encode(), ctypes.byref(params)):
        sys.exit("llama_model_quantize failed")
finally:
    os.remove(whole)
