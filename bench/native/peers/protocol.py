"""What the programs of all Python engines share: a request in, events out.

A program imports this first, then its engine, and calls run() with functions:
load(request) → model; generate(model, ids, text, n, first) → tokens, which calls
first() when the first of n greedy tokens is there, does not stop at an end of
text, and returns ids, or a text where the engine tells no ids. It may return
Timed instead, where only the engine itself can tell times.
"""

import json
import os
import sys
import time
from collections import namedtuple

request = json.loads(sys.argv[1])
out = sys.stdout


def emit(kind, **fields):
    print(json.dumps({"event": kind, **fields}), file=out, flush=True)


emit("begin", t=time.monotonic())

# prompt: seconds to the first token; rest: seconds from then to the last.
Timed = namedtuple("Timed", "prompt rest count tokens")


def peak_memory():
    with open("/proc/self/status") as f:
        for line in f:
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    return 0


def run(version, load, generate):
    emit("imported", t=time.monotonic(), version=version)
    try:
        model = load(request)
        emit("loaded", t=time.monotonic())
        for step in request["steps"]:
            seen = []
            start = time.monotonic()
            result = generate(model, step["ids"], step["text"], step["tokens"], lambda: seen or seen.append(time.monotonic()))
            last = time.monotonic()
            if isinstance(result, Timed):
                # Overhead of the call belongs to the first token.
                last = max(last, start + result.prompt + result.rest)
                seen, count, tokens = [last - result.rest], result.count, result.tokens
            else:
                count, tokens = len(result), result
            fields = {"text": tokens} if isinstance(tokens, str) else {"ids": [int(x) for x in tokens]}
            emit("step", name=step["name"], start=start, first=seen[0], last=last, count=count, rss=peak_memory(), **fields)
    except Exception as e:
        emit("error", reason=f"{type(e).__name__}: {' '.join(str(e).split())[:300]}")
        os._exit(1)
    emit("end", t=time.monotonic())
    # Not by way of the engines' destructors: one was seen to wait forever.
    os._exit(0)
