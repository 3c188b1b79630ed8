"""Trains the embedded model on the shards of pkg/tiny/internal/corpus.

    train.py --tokenizer FILE --train DIR --dev DIR --out DIR --minutes 85

One core, one thread. The learning rate follows the wall clock, so that it has
always decayed when the time is over: constant for a part of the time, then
linear to zero. Shards may be added while it runs; it begins with those that
were seen least. out/checkpoint.pt has weights, optimisers and the time used;
the same command goes on from there, with --minutes as the sum of all sittings.
out/log.csv has the loss, out/dev.csv what share of the development tasks would
be done without a single wrong token if all before it were right.
"""

import argparse
import csv
import glob
import os
import time

import numpy as np
import torch
import torch._dynamo
import torch.nn.functional as F

import model as M

ID_BITS = 13
FORCED, CHOSEN = 1, 2
# Rows are padded to one of these lengths, so that each shape is compiled once.
LENGTHS = (64, 80, 96, 112, 128, 160, 192, 256, 448)
KINDS = ("read", "list", "compute", "write", "read+write", "read+compute")


def load(path):
    data = np.fromfile(path, dtype="<u2")
    out, i = [], 0
    while i < len(data):
        n = int(data[i])
        out.append(data[i + 1 : i + 1 + n])
        i += 1 + n
    return out


def pack(rows, length):
    """ids [rows, length], and the class of the token after each, 255 at padding."""
    ids = np.zeros((len(rows), length), np.int64)
    cls = np.full((len(rows), length), 255, np.int64)
    for i, r in enumerate(rows):
        ids[i, : len(r)] = r & (1 << ID_BITS) - 1
        cls[i, : len(r) - 1] = r[1:] >> ID_BITS
    targets = np.zeros_like(ids)
    targets[:, :-1] = ids[:, 1:]
    return ids, targets, cls


class Shards:
    """Batches of equal shape out of whatever shards there are."""

    def __init__(self, folder, tokens, rng, seen):
        self.folder, self.tokens, self.rng, self.seen = folder, tokens, rng, seen
        self.queues = {t: [] for t in LENGTHS}

    def shard(self):
        names = sorted(os.path.basename(p) for p in glob.glob(os.path.join(self.folder, "*.bin")))
        least = min(names, key=lambda n: self.seen.get(n, 0))
        self.seen[least] = self.seen.get(least, 0) + 1
        return load(os.path.join(self.folder, least))

    def batches(self):
        while True:
            rows = self.shard()
            for j in self.rng.permutation(len(rows)):
                r = rows[j]
                if len(r) > LENGTHS[-1]:
                    continue
                t = next(t for t in LENGTHS if len(r) <= t)
                self.queues[t].append(r)
                if len(self.queues[t]) == self.tokens // t:
                    yield pack(self.queues[t], t)
                    self.queues[t] = []


class Muon:
    """Muon (Keller Jordan, 2024) on stacks of matrices [layers, out, in]."""

    def __init__(self, parts):
        self.parts = parts  # name -> (parameter, first row, rows)
        self.momentum = {n: torch.zeros(p.shape[0], rows, p.shape[2]) for n, (p, _, rows) in parts.items()}

    @torch.no_grad()
    def step(self, lr, decay=0.02):
        for name, (p, first, rows) in self.parts.items():
            g, m = p.grad[:, first : first + rows], self.momentum[name]
            m.mul_(0.95).add_(g)
            u = g + 0.95 * m
            flip = u.shape[1] > u.shape[2]
            if flip:
                u = u.transpose(1, 2)
            x = (u / (u.flatten(1).norm(dim=1)[:, None, None] + 1e-9)).bfloat16()
            for _ in range(5):
                a = x @ x.transpose(1, 2)
                x = 3.4445 * x + (-4.7750 * a + 2.0315 * (a @ a)) @ x
            if flip:
                x = x.transpose(1, 2)
            w = p[:, first : first + rows]
            w.mul_(1 - lr * decay).add_(x.float(), alpha=-lr * max(1, rows / p.shape[2]) ** 0.5)


def evaluate(net, rows):
    """Share of tasks without a wrong chosen token, by kind."""
    eager, M.layer = M.layer, plain_layer
    good = {k: [0, 0] for k in KINDS}
    order = sorted(range(len(rows)), key=lambda i: len(rows[i]))
    with torch.no_grad():
        for at in range(0, len(order), 48):
            some = order[at : at + 48]
            ids, targets, cls = pack([rows[i] for i in some], max(len(rows[i]) for i in some))
            right = F.linear(net.trunk(torch.from_numpy(ids)), net.emb.bfloat16()).argmax(-1).numpy() == targets
            for j, i in enumerate(some):
                ok = bool((right[j] | (cls[j] != CHOSEN)).all())
                good[KINDS[i % 6]][0] += ok
                good[KINDS[i % 6]][1] += 1
    M.layer = eager
    return {k: a / max(1, n) for k, (a, n) in good.items()}


plain_layer = M.layer


def main():
    ap = argparse.ArgumentParser()
    for name in ("train", "dev", "out", "tokenizer"):
        ap.add_argument("--" + name, required=True)
    for name, default in (("minutes", 85.0), ("muon", 0.02), ("adam", 3e-3), ("hold", 0.25), ("warm", 60.0), ("text", 0.08), ("every", 300.0)):
        ap.add_argument("--" + name, type=float, default=default)
    for name, default in (("d", 192), ("layers", 8), ("heads", 6), ("kv", 2), ("head", 32), ("ff", 512), ("tokens", 8192), ("seed", 1), ("devtasks", 600)):
        ap.add_argument("--" + name, type=int, default=default)
    ap.add_argument("--eager", action="store_true")
    a = ap.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(a.seed)
    os.makedirs(a.out, exist_ok=True)
    from tokenizers import Tokenizer

    vocab = -(-Tokenizer.from_file(a.tokenizer).get_vocab_size() // 32) * 32
    config = dict(vocab=vocab, d=a.d, layers=a.layers, heads=a.heads, kv=a.kv, head=a.head, ff=a.ff)
    net = M.Model(M.Config(**config))
    if not a.eager:
        torch._dynamo.config.cache_size_limit = 64
        M.layer = torch.compile(M.layer, dynamic=False)
    q, kv = a.heads * a.head, a.kv * a.head
    muon = Muon({"q": (net.qkv, 0, q), "k": (net.qkv, q, kv), "v": (net.qkv, q + kv, kv), "o": (net.o, 0, a.d), "gate": (net.gu, 0, a.ff), "up": (net.gu, a.ff, a.ff), "down": (net.down, 0, a.d)})
    adam = torch.optim.AdamW([net.emb, net.nf, net.n1, net.n2], lr=a.adam, betas=(0.9, 0.98), weight_decay=0.0)
    step = tokens = 0
    used, seen = 0.0, {}
    path = os.path.join(a.out, "checkpoint.pt")
    if os.path.exists(path):
        s = torch.load(path, weights_only=True)
        net.load_state_dict(s["model"])
        adam.load_state_dict(s["adam"])
        muon.momentum = s["muon"]
        step, tokens, used, seen = s["step"], s["tokens"], s["used"], s["seen"]
        print(f"going on from step {step}, {tokens} tokens, {used / 60:.1f} minutes", flush=True)

    start = time.time()

    def save():
        torch.save(dict(model=net.state_dict(), adam=adam.state_dict(), muon=muon.momentum, step=step, tokens=tokens, used=used + time.time() - start, seen=shards.seen, config=config), path + ".part")
        os.replace(path + ".part", path)

    def table(name, header):
        new = not os.path.exists(os.path.join(a.out, name))
        f = open(os.path.join(a.out, name), "a", newline="")
        w = csv.writer(f)
        if new:
            w.writerow(header)
        return f, w

    logf, log = table("log.csv", ["step", "tokens", "minutes", "rate", "loss"])
    devf, devw = table("dev.csv", ["step", "tokens", "minutes", "all", *KINDS])
    dev = load(sorted(glob.glob(os.path.join(a.dev, "*.bin")))[0])[: a.devtasks]
    shards = Shards(a.train, a.tokens, np.random.default_rng(a.seed + step), seen)
    batches = shards.batches()
    total = a.minutes * 60
    last, sum_, count = time.time(), 0.0, 0
    print("parameters", sum(p.numel() for p in net.parameters()), "tasks to develop on", len(dev), flush=True)
    while True:
        now = time.time() - start
        done = (used + now) / total
        if done >= 1:
            break
        rate = min(1.0, (now + 2) / a.warm, max(0.01, (1 - done) / (1 - a.hold)))
        for group in adam.param_groups:
            group["lr"] = a.adam * rate
        ids, targets, cls = next(batches)
        flat = cls.reshape(-1)
        text = 0.1 if done < a.text else 0.0
        weight = np.select([flat == CHOSEN, flat == FORCED, flat == 0], [1.0, 0.05, text], 0.0).astype(np.float32)
        picked = np.nonzero(weight)[0]
        weight = torch.from_numpy(weight[picked])
        hidden = net.trunk(torch.from_numpy(ids))
        loss, each = net.loss(hidden, torch.from_numpy(picked), torch.from_numpy(targets.reshape(-1)[picked]), weight)
        loss.backward()
        muon.step(a.muon * rate)
        adam.step()
        net.zero_grad(set_to_none=True)
        chosen = weight == 1.0
        sum_ += float(each[chosen].sum())
        count += int(chosen.sum())
        step += 1
        tokens += int((flat != 255).sum())
        if step % 20 == 0:
            log.writerow([step, tokens, f"{(used + now) / 60:.2f}", f"{rate:.4f}", f"{sum_ / count:.4f}"])
            logf.flush()
            if step % 100 == 0:
                print(f"step {step} tokens {tokens} minutes {(used + now) / 60:.1f} rate {rate:.3f} loss {sum_ / count:.4f} shards {len(shards.seen)}", flush=True)
            sum_, count = 0.0, 0
        if time.time() - last > a.every:
            last = time.time()
            save()
            e = evaluate(net, dev)
            devw.writerow([step, tokens, f"{(used + now) / 60:.2f}", f"{np.mean(list(e.values())):.4f}", *(f"{v:.3f}" for v in e.values())])
            devf.flush()
            print("dev", f"{np.mean(list(e.values())):.4f}", {k: round(v, 3) for k, v in e.items()}, flush=True)
    save()
    e = evaluate(net, dev)
    devw.writerow([step, tokens, f"{a.minutes:.2f}", f"{np.mean(list(e.values())):.4f}", *(f"{v:.3f}" for v in e.values())])
    print("end", step, tokens, f"{np.mean(list(e.values())):.4f}", {k: round(v, 3) for k, v in e.items()}, flush=True)


if __name__ == "__main__":
    main()
