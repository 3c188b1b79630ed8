#!/usr/bin/env python3
"""Logits of tiny checkpoints by transformers, for pkg/llama's TestTransformers.

usage: tiny_logits.py FOLDER OUT.json     (needs torch and transformers from PyPI)

FOLDER is what `go test ./pkg/llama -run TestTransformers -dump FOLDER` writes: a
checkpoint in each folder, and prompt.json with the ids. float32 throughout.
"""
import json, os, sys
import torch, transformers
from transformers import AutoModelForCausalLM

folder, out = sys.argv[1:3]
prompt = json.load(open(os.path.join(folder, "prompt.json")))
result = {"versions": {"torch": torch.__version__, "transformers": transformers.__version__}, "logits": {}}
for name in sorted(os.listdir(folder)):
    path = os.path.join(folder, name)
    if not os.path.isdir(path):
        continue
    model = AutoModelForCausalLM.from_pretrained(path, dtype=torch.float32).eval()
    with torch.no_grad():
        logits = model(torch.tensor([prompt])).logits[0, -5:]
    result["logits"][name] = [[float(f"{x:.6g}") for x in row] for row in logits.tolist()]
json.dump(result, open(out, "w"), separators=(",", ":"))
print(out, result["versions"], {k: len(v[0]) for k, v in result["logits"].items()})
