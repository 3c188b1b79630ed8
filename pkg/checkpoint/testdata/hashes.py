#!/usr/bin/env python3
"""Print name, dtype, shape and SHA-256 of every tensor of a .safetensors file.

usage: hashes.py MODEL.safetensors

smollm2-f32.txt and smollm2-bf16.txt come from it and from gguf_to_hf.py, which
shares nothing with the Go code:

    gguf_to_hf.py smollm2.gguf OUT f32; hashes.py OUT/model.safetensors
"""
import hashlib, json, struct, sys

data = open(sys.argv[1], "rb").read()
n = struct.unpack("<Q", data[:8])[0]
for name, t in sorted(json.loads(data[8:8 + n]).items()):
    if name != "__metadata__":
        begin, end = (8 + n + o for o in t["data_offsets"])
        print(name, t["dtype"], "x".join(map(str, t["shape"])), hashlib.sha256(data[begin:end]).hexdigest())
