"""The embedded model in torch, for training: Llama's architecture, written for
speed on one CPU core. Matrices are f32 and are used in bfloat16.

Layer weights of one kind are one tensor ([layers, out, in]), queries, keys and
values are one matrix, and so are gate and up; export.py takes them apart.
"""

import math

import torch
import torch.nn as nn
import torch.nn.functional as F

BF = torch.bfloat16


class Config:
    """Sizes; every row length is a multiple of 32, as Q8B32 wants it."""

    def __init__(self, vocab, d=192, layers=6, heads=6, kv=2, head=32, ff=512, theta=10000.0, eps=1e-5):
        self.vocab, self.d, self.layers, self.heads, self.kv, self.head, self.ff, self.theta, self.eps = vocab, d, layers, heads, kv, head, ff, theta, eps

    @property
    def qkv(self):
        return (self.heads + 2 * self.kv) * self.head


def rope(length, head, theta):
    """cos and sin [length, head] of Llama's rotary embedding (halves rotated)."""
    f = 1.0 / theta ** (torch.arange(0, head, 2).float() / head)
    a = torch.outer(torch.arange(length).float(), f)
    a = torch.cat([a, a], -1)
    return a.cos(), a.sin()


def rotate(x, cos, sin):
    h = x.shape[-1] // 2
    return x * cos + torch.cat([-x[..., h:], x[..., :h]], -1) * sin


def norm(x, w, eps):
    x = x.float()
    return (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps) * w).to(BF)


def layer(x, c, cos, sin, bias, n1, n2, qkv, o, gu, down):
    """One layer on x [batch, length, d] in bfloat16 (the residual stream)."""
    B, T, _ = x.shape
    g, hd = c.heads // c.kv, c.head
    y = F.linear(norm(x, n1, c.eps), qkv)
    q, k, v = y.split((c.heads * hd, c.kv * hd, c.kv * hd), -1)
    q = rotate(q.view(B, T, c.heads, hd).transpose(1, 2), cos, sin)
    k = rotate(k.view(B, T, c.kv, hd).transpose(1, 2), cos, sin)
    v = v.view(B, T, c.kv, hd).transpose(1, 2)
    q = q.reshape(B * c.kv, g * T, hd)
    k = k.reshape(B * c.kv, T, hd)
    v = v.reshape(B * c.kv, T, hd)
    a = torch.bmm(q, k.transpose(1, 2)).view(B * c.kv, g, T, T) * (hd**-0.5) + bias
    a = torch.softmax(a.float(), -1).to(BF).view(B * c.kv, g * T, T)
    y = torch.bmm(a, v).view(B, c.heads, T, hd).transpose(1, 2).reshape(B, T, c.heads * hd)
    x = x + F.linear(y, o)
    gate, up = F.linear(norm(x, n2, c.eps), gu).chunk(2, -1)
    return x + F.linear(F.silu(gate) * up, down)


class Model(nn.Module):
    def __init__(self, c, longest=1024):
        super().__init__()
        self.c = c
        L, d = c.layers, c.d
        small = 0.3 / math.sqrt(L / 4)
        self.emb = nn.Parameter(torch.randn(c.vocab, d) * 0.05)
        self.nf = nn.Parameter(torch.ones(d))
        self.n1 = nn.Parameter(torch.ones(L, d))
        self.n2 = nn.Parameter(torch.ones(L, d))
        self.qkv = nn.Parameter(torch.randn(L, c.qkv, d) / math.sqrt(d))
        self.o = nn.Parameter(torch.randn(L, d, c.heads * c.head) / math.sqrt(d) * small)
        self.gu = nn.Parameter(torch.randn(L, 2 * c.ff, d) / math.sqrt(d))
        self.down = nn.Parameter(torch.randn(L, d, c.ff) / math.sqrt(c.ff) * small)
        cos, sin = rope(longest, c.head, c.theta)
        self.register_buffer("cos", cos.to(BF), persistent=False)
        self.register_buffer("sin", sin.to(BF), persistent=False)

    def trunk(self, ids):
        """Hidden states [batch, length, d] after the last norm, in bfloat16."""
        c, T = self.c, ids.shape[1]
        bias = torch.full((T, T), -1e9, dtype=BF).triu(1)
        cos, sin = self.cos[:T], self.sin[:T]
        qkv, o, gu, down = self.qkv.to(BF), self.o.to(BF), self.gu.to(BF), self.down.to(BF)
        x = F.embedding(ids, self.emb).to(BF)
        for i in range(c.layers):
            x = layer(x, c, cos, sin, bias, self.n1[i], self.n2[i], qkv[i], o[i], gu[i], down[i])
        return norm(x, self.nf, c.eps)

    def loss(self, hidden, picked, targets, weights):
        """Weighted mean cross entropy at the picked positions of the flattened batch."""
        logits = F.linear(hidden.reshape(-1, self.c.d)[picked], self.emb.to(BF)).float()
        each = F.cross_entropy(logits, targets, reduction="none")
        return (each * weights).sum() / weights.sum(), each.detach()
