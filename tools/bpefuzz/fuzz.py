#!/usr/bin/env python3
"""Compare pkg/bpe with the tokenizers package on random texts and random tokenizers.

usage: python fuzz.py [--seconds N] [--seed N] [--findings FILE.jsonl] [TOKENIZER.json …]

Each round takes a tokenizer, one of those given or a small synthetic one with stages drawn at
random, and some texts, and compares ids (special tokens on and off), decoded text, and what a
streaming decoder shows. A difference is made smaller and written to the findings. Needs:
tokenizers, and Go.
"""
import argparse
import json
import os
import random
import subprocess
import sys
import time

from tokenizers import Tokenizer

import synth

HERE = os.path.dirname(os.path.abspath(__file__))


class Ours:
    def __init__(self, binary):
        self.p = subprocess.Popen([binary], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(self, **request):
        self.p.stdin.write(json.dumps(request).encode() + b"\n")
        self.p.stdin.flush()
        line = self.p.stdout.readline()
        if not line:
            raise SystemExit(f"our side ended on {str(request)[:2000]}")
        return json.loads(line)


def encode(theirs, text, add=False):
    """Their ids, or None where their library panics."""
    try:
        return theirs.encode(text, add_special_tokens=add).ids
    except BaseException as e:  # noqa: BLE001  pyo3's PanicException is no Exception
        if type(e).__name__ != "PanicException" and not isinstance(e, Exception):
            raise
        return None


def differs(ours, theirs, text, special):
    theirs.encode_special_tokens = not special
    want = encode(theirs, text)
    if want is None:
        return None
    got = ours.ask(texts=[text], special=special)["ids"][0]
    return None if got == want else (got, want)


def shrink(test, text):
    """Remove parts of text as long as test(text) holds."""
    step = max(1, len(text) // 2)
    while step:
        i = 0
        while i < len(text):
            shorter = text[:i] + text[i + step:]
            if test(shorter):
                text = shorter
            else:
                i += step
        step //= 2
    return text


def main():
    args = argparse.ArgumentParser()
    args.add_argument("--seconds", type=float, default=60)
    args.add_argument("--seed", type=int, default=0)
    args.add_argument("--findings", default="findings.jsonl")
    args.add_argument("--panics", action="store_true", help="report texts on which their library panics")
    args.add_argument("tokenizers", nargs="*")
    args = args.parse_args()
    binary = os.path.join(os.environ.get("TMPDIR", "/tmp"), f"bpefuzz-{os.getpid()}")
    subprocess.run(["go", "build", "-o", binary, "."], cwd=HERE, check=True)
    try:
        sys.exit(fuzz(args, Ours(binary)))
    finally:
        os.remove(binary)


def fuzz(args, ours):
    rng = random.Random(args.seed)
    files = {f: Tokenizer.from_file(f) for f in args.tokenizers}
    end = time.time() + args.seconds
    rounds = texts = found = refused = panics = 0
    with open(args.findings, "a", encoding="utf-8") as findings:
        def report(**finding):
            nonlocal found
            found += 1
            findings.write(json.dumps(finding, ensure_ascii=True) + "\n")
            findings.flush()
            brief = dict(finding)
            if brief.get("spec"):
                spec = json.loads(brief.pop("spec"))
                del spec["model"]["vocab"], spec["model"]["merges"]
                brief["stages"] = [spec["normalizer"], spec["pre_tokenizer"], spec["decoder"], spec["model"]]
            print(ascii(brief)[:1500], flush=True)

        while time.time() < end and found < 50:
            rounds += 1
            spec = None
            if files and rng.random() < 0.5:
                name = rng.choice(list(files))
                theirs = files[name]
                error = ours.ask(file=name).get("error")
            else:
                name, spec = "synthetic", json.dumps(synth.tokenizer(rng), ensure_ascii=False)
                try:
                    theirs = Tokenizer.from_str(spec)
                except Exception as e:  # noqa: BLE001  their refusals are not our concern
                    refused += 1
                    ours.ask(json=spec)
                    continue
                norm = theirs.normalizer
                if norm and any(t.normalized and not norm.normalize_str(t.content)
                                for t in theirs.get_added_tokens_decoder().values()):
                    continue  # an empty pattern: their library matches it within characters
                error = ours.ask(json=spec).get("error")
            if error:
                report(tokenizer=name, spec=spec, error=error)
                continue
            added = [t.content for t in theirs.get_added_tokens_decoder().values()]
            batch = [synth.text(rng, added) for _ in range(40)]
            texts += len(batch)
            for special in (False, True):
                theirs.encode_special_tokens = not special
                want = [encode(theirs, t) for t in batch]
                got = ours.ask(texts=batch, special=special)["ids"]
                for t, w, g in zip(batch, want, got):
                    if w is None:
                        panics += 1
                        if args.panics:
                            report(tokenizer=name, spec=spec, text=shrink(lambda s: encode(theirs, s) is None, t), panic=True)
                    elif w != g:
                        small = shrink(lambda s: differs(ours, theirs, s, special), t)
                        g, w = differs(ours, theirs, small, special)
                        report(tokenizer=name, spec=spec, text=small, special=special, got=g, want=w)
                        break
            theirs.encode_special_tokens = False
            want = [encode(theirs, t, True) for t in batch]
            got = ours.ask(texts=batch, special=True, add=True)["ids"]
            for t, w, g in zip(batch, want, got):
                if w is not None and w != g:
                    report(tokenizer=name, spec=spec, text=t, add=True, got=g, want=w)
                    break
            # Decoding: ids of texts, and any ids.
            size = max(theirs.get_vocab(with_added_tokens=True).values(), default=0) + 1
            lists = [w for w in want[:10] if w is not None] + [[rng.randrange(size + 3) for _ in range(rng.randrange(1, 20))] for _ in range(20)]
            for skip in (False, True):
                want = [theirs.decode(ids, skip_special_tokens=skip) for ids in lists]
                answer = ours.ask(decode=lists, skip=skip)
                decoder = json.loads(theirs.to_str())["decoder"] if spec is None else json.loads(spec)["decoder"]
                fallback = "ByteFallback" in json.dumps(decoder)
                for ids, w, g, s in zip(lists, want, answer["texts"], answer["streamed"]):
                    if w != g or s != w and not (fallback and "\ufffd" in w):
                        report(tokenizer=name, spec=spec, decode=ids, skip=skip, got=g, streamed=s, want=w)
                        break
    print(f"{rounds} rounds, {texts} texts, {refused} tokenizers that they refuse, {panics} panics of theirs, {found} differences")
    return 1 if found else 0


main()
