"""Writes a checkpoint of training as a model folder in Hugging Face's form.

    export.py OUT --tokenizer tokenizer.json [--checkpoint FILE] [--layers 8 …]

Without a checkpoint the weights are random: for the first steps of the recipe,
and for what an untrained model scores.
"""

import argparse
import json
import os
import shutil

import torch
from safetensors.torch import save_file

from model import Config, Model

HERE = os.path.dirname(os.path.abspath(__file__))


def tensors(m):
    c = m.c
    q, kv = c.heads * c.head, c.kv * c.head
    out = {"model.embed_tokens.weight": m.emb, "model.norm.weight": m.nf}
    for i in range(c.layers):
        p = f"model.layers.{i}."
        out[p + "input_layernorm.weight"] = m.n1[i]
        out[p + "post_attention_layernorm.weight"] = m.n2[i]
        out[p + "self_attn.q_proj.weight"], out[p + "self_attn.k_proj.weight"], out[p + "self_attn.v_proj.weight"] = m.qkv[i].split((q, kv, kv))
        out[p + "self_attn.o_proj.weight"] = m.o[i]
        out[p + "mlp.gate_proj.weight"], out[p + "mlp.up_proj.weight"] = m.gu[i].chunk(2)
        out[p + "mlp.down_proj.weight"] = m.down[i]
    return {k: v.detach().float().contiguous().clone() for k, v in out.items()}


def export(m, tokenizer, out):
    os.makedirs(out, exist_ok=True)
    c = m.c
    save_file(tensors(m), os.path.join(out, "model.safetensors"), metadata={"format": "pt"})
    config = dict(architectures=["LlamaForCausalLM"], model_type="llama", hidden_act="silu", hidden_size=c.d, intermediate_size=c.ff, num_hidden_layers=c.layers, num_attention_heads=c.heads, num_key_value_heads=c.kv, head_dim=c.head, vocab_size=c.vocab, rms_norm_eps=c.eps, rope_theta=c.theta, max_position_embeddings=1024, tie_word_embeddings=True, attention_bias=False, mlp_bias=False, eos_token_id=0, pad_token_id=0, torch_dtype="float32")
    template = open(os.path.join(HERE, "chat_template.jinja")).read()
    for name, value in (("config.json", config), ("generation_config.json", dict(eos_token_id=0, pad_token_id=0)), ("tokenizer_config.json", dict(tokenizer_class="PreTrainedTokenizerFast", model_max_length=1024, eos_token="<|end|>", pad_token="<|end|>", clean_up_tokenization_spaces=False, chat_template=template))):
        with open(os.path.join(out, name), "w") as f:
            json.dump(value, f, indent=1)
            f.write("\n")
    if os.path.abspath(tokenizer) != os.path.abspath(os.path.join(out, "tokenizer.json")):
        shutil.copy(tokenizer, os.path.join(out, "tokenizer.json"))


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("out")
    p.add_argument("--tokenizer", required=True)
    p.add_argument("--checkpoint")
    p.add_argument("--layers", type=int, default=8)
    p.add_argument("--d", type=int, default=192)
    p.add_argument("--seed", type=int, default=1)
    a = p.parse_args()
    torch.manual_seed(a.seed)
    if a.checkpoint:
        saved = torch.load(a.checkpoint, map_location="cpu", weights_only=True)
        m = Model(Config(**saved["config"]))
        m.load_state_dict(saved["model"])
    else:
        from tokenizers import Tokenizer

        vocab = -(-Tokenizer.from_file(a.tokenizer).get_vocab_size() // 32) * 32
        m = Model(Config(vocab, d=a.d, layers=a.layers))
    export(m, a.tokenizer, a.out)
    print("parameters", sum(p.numel() for p in m.parameters()))
