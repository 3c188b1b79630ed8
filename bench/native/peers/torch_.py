"""PyTorch eager, by transformers."""

import protocol
import torch
from transformers import DynamicCache, LlamaForCausalLM

torch.set_num_threads(protocol.request["threads"])


def load(request):
    return LlamaForCausalLM.from_pretrained(request["model"], dtype=getattr(torch, request["variant"])).eval()


@torch.inference_mode()
def generate(model, ids, text, n, first):
    cache = DynamicCache(config=model.config)
    tokens, at = [], ids
    for _ in range(n):
        logits = model(torch.tensor([at]), past_key_values=cache, use_cache=True, logits_to_keep=1).logits
        tokens.append(int(logits[0, -1].argmax()))
        first()
        at = tokens[-1:]
    return tokens


protocol.run(torch.__version__, load, generate)
