#!/usr/bin/env python3
"""Write the test data of pkg/bpe: small tokenizers and what the tokenizers package makes of texts.

usage: python testdata.py VOCABS SMOLLM2.json CASES.json SMOLLM2_VECTORS.json OUT

VOCABS is a folder with the tokenizer.json files that vocab.py makes: gpt-2.json, llama-bpe.json,
mpt.json, starcoder.json, qwen2.json. SMOLLM2.json is the model's
tokenizer.json, CASES.json and SMOLLM2_VECTORS.json hold texts with ids. A vocabulary is cut down
to the tokens and merges that the texts can touch: those that are part of a piece that the
pre-tokeniser makes of a text. Ids stay. Needs: tokenizers. The output depends only on the input.
"""
import gzip
import json
import random
import re
import sys

import tokenizers
from tokenizers import Tokenizer

import synth

EXTRA = [  # texts that tests use beside the vectors
    " Việt", "12345678", "I'LL", "we'll", "é😀x", "a  <L>  b", "a  <R>  b", "<LONG><R2>", "<LONG>", "<L", "a<|endoftext|>b",
    "b", " b", "ab", "Hello, world!", "Hello world", " world", "The quick brown fox jumps over the lazy dog.", "naïve café",
    "<|im_start|>user\nHi<|im_end|>", "a" * 300, " " * 300, "\n" * 20, "=" * 80, "世界", "こんにちは世界", "안녕하세요",
    "Привет, мир", "مرحبا", "x = [i**2 for i in range(10)]\n\treturn x", "it's John's", "don't", "100%", "e\u0301", "\u212b",
]
RUNS = re.compile(r"(.)\1*$", re.S)  # tokens that repeat one character: for texts that do


def load(path):
    with open(path, encoding="utf-8") as f:
        return json.load(f)


def prune(spec, texts):
    t = Tokenizer.from_str(json.dumps(spec))
    names = [a["content"] for a in spec["added_tokens"]]
    parts = list(texts)
    if names:
        split = re.compile("|".join(map(re.escape, sorted(names, key=len, reverse=True))))
        parts += [p for x in texts for p in split.split(x)]
    words = set()
    for p in parts:
        p = t.normalizer.normalize_str(p) if t.normalizer else p
        words |= {w for w, _ in t.pre_tokenizer.pre_tokenize_str(p)} if t.pre_tokenizer else {p}
    joined = "\0".join(sorted(words))
    vocab = spec["model"]["vocab"]
    keep = {w for w in vocab if len(w) == 1 or w in names or w in joined or re.fullmatch(r"<0x..>", w)
            or (RUNS.match(w) and w[0] in "aĠ")}
    rules = [m.split(" ") if isinstance(m, str) else m for m in spec["model"]["merges"]]
    # A rule both of whose sides are kept but not what they make cannot apply to these texts.
    rules = [m for m in rules if "".join(m) in keep]
    keep |= {s for m in rules for s in m}
    small = dict(spec, model=dict(spec["model"], vocab={w: i for w, i in vocab.items() if w in keep},
                                  merges=[" ".join(m) for m in rules]))
    u = Tokenizer.from_str(json.dumps(small))
    for special in (False, True):
        t.encode_special_tokens = u.encode_special_tokens = special
        for x in texts:
            assert t.encode(x).ids == u.encode(x).ids, x
    print(f"{len(small['model']['vocab'])} of {len(vocab)} tokens, {len(rules)} of {len(spec['model']['merges'])} merges")
    return small


def write(path, value):
    """One element of a list a line, compressed where the name says so."""
    dump = lambda v: json.dumps(v, ensure_ascii=True, separators=(",", ":"))  # noqa: E731
    text = "[\n" + ",\n".join(map(dump, value)) + "\n]\n" if isinstance(value, list) else dump(value) + "\n"
    data = text.encode()
    if path.endswith(".gz"):
        data = gzip.compress(data, 9, mtime=0)
    with open(path, "wb") as f:
        f.write(data)
    print(path.rsplit("/", 1)[-1], len(data), "bytes")


def vectors(spec, texts):
    """Ids and decoded text of each text, with special tokens in text off and on."""
    t = Tokenizer.from_str(json.dumps(spec))
    out = []
    for x in texts:
        row = {"text": x}
        for key, special in (("ids", False), ("special", True)):
            t.encode_special_tokens = not special
            row[key] = t.encode(x, add_special_tokens=False).ids
        row["added"] = t.encode(x, add_special_tokens=True).ids
        row["decode"] = t.decode(row["added"], skip_special_tokens=False)
        row["skip"] = t.decode(row["added"], skip_special_tokens=True)
        out.append({k: v for k, v in row.items() if k not in ("special", "added") or v != row["ids"]})
    return out


def stages(rng):
    """What single stages make of texts: normalisers, and pre-tokenisers with each expression."""
    out = []
    kinds = [{"type": "NFC"}, {"type": "NFD"}, {"type": "NFKC"}, {"type": "NFKD"}, {"type": "Lowercase"},
             {"type": "Strip", "strip_left": True, "strip_right": False}, {"type": "Strip", "strip_left": True, "strip_right": True},
             {"type": "Prepend", "prepend": "▁"}, {"type": "Replace", "pattern": {"String": " "}, "content": "▁"},
             {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "}, {"type": "ByteLevel"},
             {"type": "Sequence", "normalizers": [{"type": "NFD"}, {"type": "Lowercase"}, {"type": "Replace", "pattern": {"Regex": r"\p{M}+"}, "content": ""}]}]
    for n in kinds:
        t = Tokenizer.from_str(json.dumps(synth.vocab.wrap([], n, None, None, {"vocab": {}, "merges": []})))
        texts = [synth.text(rng) for _ in range(60 if n["type"].startswith("NF") else 15)]
        out.append({"normalizer": n, "texts": texts, "want": [t.normalizer.normalize_str(x) for x in texts]})
    splits = [dict(type="Split", pattern={"Regex": r}, behavior=b, invert=i)
              for k, r in enumerate(synth.REGEXES)
              for b, i in [("Isolated", False), (synth.BEHAVIORS[k % 5], k % 2 == 0), (synth.BEHAVIORS[(k + 2) % 5], k % 2 == 1)]]
    splits += [dict(type="Split", pattern={"String": s}, behavior=b, invert=i)
               for s in ("a", "  ") for b in synth.BEHAVIORS for i in (False, True)]
    splits += [{"type": "Punctuation", "behavior": b} for b in synth.BEHAVIORS]
    splits += [{"type": "Digits", "individual_digits": i} for i in (False, True)]
    splits += [{"type": "ByteLevel", "add_prefix_space": a, "trim_offsets": True, "use_regex": r} for a in (False, True) for r in (False, True)]
    splits += [{"type": "Metaspace", "replacement": "▁", "prepend_scheme": p, "split": s}
               for p in ("always", "first", "never") for s in (False, True)]
    level = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True}
    splits += [{"type": "Sequence", "pretokenizers": [{"type": "Punctuation", "behavior": "Contiguous"}, level,
                                                     {"type": "Digits", "individual_digits": False}]}]
    for p in splits:
        t = Tokenizer.from_str(json.dumps(synth.vocab.wrap([], None, p, None, {"vocab": {}, "merges": []})))
        texts = [synth.text(rng) for _ in range(20)]
        out.append({"pre_tokenizer": p, "texts": texts, "want": [[w for w, _ in t.pre_tokenizer.pre_tokenize_str(x)] for x in texts]})
    return out


def synthetic(rng, count):
    """Whole tokenizers with every kind of flag, and texts."""
    out = []
    while len(out) < count:
        spec = synth.tokenizer(rng)
        names = [a["content"] for a in spec["added_tokens"]]
        texts = [synth.text(rng, names) for _ in range(10)]
        try:
            t = Tokenizer.from_str(json.dumps(spec))
            if t.normalizer and any(a["normalized"] and not t.normalizer.normalize_str(a["content"]) for a in spec["added_tokens"]):
                continue
            out.append({"tokenizer": spec, "vectors": vectors(spec, texts)})
        except BaseException as e:  # noqa: BLE001  a panic of their library
            if isinstance(e, KeyboardInterrupt):
                raise
    return out


def main():
    folder, smollm2, cases, reference, out = sys.argv[1:6]
    assert tokenizers.__version__ == "0.23.3", tokenizers.__version__
    cases, reference = load(cases)["vectors"], load(reference)["vectors"]
    write(f"{out}/cases.json", [{"tokenizer": n, **{k: v[k] for k in ("text", "ids", "decode")}} for n in cases for v in cases[n]])
    write(f"{out}/smollm2_vectors.json", [
        {"text": v["text"], "ids": v["ids"], "decode": v["decoded"], "skip": v["decoded_skip_special"]} for v in reference])
    for name, file in [("gpt-2", "gpt-2"), ("llama3", "llama-bpe"), ("mpt", "mpt"), ("starcoder", "starcoder")]:
        write(f"{out}/{name}.json.gz", prune(load(f"{folder}/{file}.json"), [v["text"] for v in cases[name]] + EXTRA))
    write(f"{out}/smollm2.json.gz", prune(load(smollm2), [v["text"] for v in reference] + EXTRA))
    texts = sorted({v["text"] for n in cases for v in cases[n]}) + EXTRA
    spec = prune(load(f"{folder}/qwen2.json"), texts)
    write(f"{out}/qwen2.json.gz", spec)
    write(f"{out}/qwen2_vectors.json.gz", vectors(spec, texts))
    rng = random.Random(1)
    write(f"{out}/stages.json.gz", stages(rng))
    write(f"{out}/synthetic.json.gz", synthetic(rng, 40))


main()
