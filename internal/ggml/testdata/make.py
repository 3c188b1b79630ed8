"""Writes dequantize.json: random blocks of each type and their values.

The oracle is gguf-py (pip install gguf==0.19.0). Run here: python make.py
"""
import json
import numpy as np
from gguf import GGMLQuantizationType as T, GGML_QUANT_SIZES, quants

rng = np.random.default_rng(1)
cases = []
scale_at = {"Q4_0": [0], "Q4_1": [0, 2], "Q5_0": [0], "Q5_1": [0, 2], "Q8_0": [0],
            "Q4_K": [0, 2], "Q5_K": [0, 2], "Q6_K": [208]}
for name, at in scale_at.items():
    _, size = GGML_QUANT_SIZES[T[name]]
    for kind in range(3):
        b = rng.integers(0, 256, size, dtype=np.uint8)
        for o in at:  # finite scales: ordinary, subnormal, large
            s = [rng.normal() * 0.01, rng.normal() * 1e-6, rng.normal() * 2e4][kind]
            b[o:o + 2] = np.frombuffer(np.float16(s).tobytes(), np.uint8)
        y = quants.dequantize(b.reshape(1, -1), T[name]).astype("<f4")
        cases.append({"type": name, "block_hex": b.tobytes().hex(), "f32_hex": y.tobytes().hex()})
json.dump({"oracle": "gguf-py 0.19.0", "blocks": cases}, open("dequantize.json", "w"), indent=1)
