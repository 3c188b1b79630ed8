"""Averages the weights of two checkpoints of one training.

    average.py FIRST LAST SHARE OUT

OUT is LAST with SHARE of its weights and the rest of FIRST's (Izmailov et al.,
"Averaging Weights Leads to Wider Optima and Better Generalization", 2018).
"""

import sys

import torch

first, last = (torch.load(p, weights_only=True) for p in sys.argv[1:3])
share = float(sys.argv[3])
for name, weight in last["model"].items():
    last["model"][name] = torch.lerp(first["model"][name].float(), weight.float(), share).to(weight.dtype)
torch.save(last, sys.argv[4])
