"""Compares pkg/grammar's masks with those of PyPI's llguidance.

    PYTHON=python3 ./run.sh MODEL_FOLDER

The same calls of the same tools, by the same vocabulary: for each tool a fresh
grammar, and at each token of each call the mask before it. Needs llguidance,
tokenizers and numpy. llguidance is called through Python, which adds
a little to each of its masks (measured, and said below). Where it
refuses a token that pkg/grammar lets through (some escapes, for example) the
rest of that call is left out for both.
"""

import json
import sys
import time

import numpy as np
import tokenizers
from llguidance import LLMatcher, LLTokenizer, get_version
from llguidance.numpy import allocate_token_bitmask


def call_schema(tool):
    """Returns the schema of a whole call, compact, definitions at the top."""
    arguments = dict(tool["schema"])
    schema = {
        "type": "object",
        "properties": {"name": {"const": tool["name"]}, "arguments": arguments},
        "required": ["name", "arguments"],
        "additionalProperties": False,
        "x-guidance": {"whitespace_flexible": False, "item_separator": ",", "key_separator": ":"},
    }
    if "$defs" in arguments:
        schema["$defs"] = arguments.pop("$defs")
    return json.dumps(schema)


def row(name, values, compile_us, note=""):
    a = np.sort(np.array(values))
    q = lambda p: a[int(p * (len(a) - 1))]
    c = np.sort(np.array(compile_us))
    print(f"| {name} | {len(c)} | {len(a)} | {q(0.5):.1f} | {a.mean():.1f} | {q(0.9):.1f} | {q(0.99):.1f} | {a[-1]:.0f} | {c[len(c) // 2]:.0f} | {c[-1]:.0f} |{note}")


def main(model, calls):
    hf = tokenizers.Tokenizer.from_file(f"{model}/tokenizer.json")
    tokenizer = LLTokenizer(f"{model}/tokenizer.json", eos_token=hf.token_to_id("<|im_end|>"), slices=LLTokenizer.json_slices())
    mask = allocate_token_bitmask(1, tokenizer.vocab_size)[0]
    pointer, size = mask.ctypes.data, mask.size * mask.itemsize
    ours, theirs, our_compile, their_compile = [], [], [], []
    refused, cut, first = [], 0, None
    for line in open(calls, encoding="utf-8"):
        tool = json.loads(line)
        begin = time.perf_counter()
        grammar = LLMatcher.grammar_from_json_schema(call_schema(tool))
        matcher = LLMatcher(tokenizer, grammar)
        if matcher.is_error():
            refused.append(tool["name"])
            continue
        matcher.unsafe_compute_mask_ptr(pointer, size)
        took = (time.perf_counter() - begin) * 1e6
        if first is None:  # pays for what is done once in a process
            first = tool["compile_us"], took
            continue
        their_compile.append(took)
        our_compile.append(tool["compile_us"])
        for tokens, times in zip(tool["calls"], tool["mask_us"]):
            matcher.reset()
            for token, mine in zip(tokens, times):
                begin = time.perf_counter()
                matcher.unsafe_compute_mask_ptr(pointer, size)
                took = (time.perf_counter() - begin) * 1e6
                theirs.append(took)
                ours.append(mine)
                if matcher.try_consume_tokens([token]) == 0:
                    cut += 1
                    break
    begin = time.perf_counter()
    for _ in range(1000):
        matcher.is_accepting()
    overhead = (time.perf_counter() - begin) * 1e3  # µs each
    print("| | schemas | masks | median µs | mean | p90 | p99 | max | compile and first mask, median µs | max |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    row("leveret", ours, our_compile)
    row(get_version().split()[0].replace("@", " "), theirs, their_compile)
    print(f"\n{tokenizer.vocab_size} tokens. A call into llguidance from Python takes {overhead:.2f} µs. "
          f"{cut} calls were cut where it refuses a token; schemas that it refuses: {', '.join(refused) or 'none'}. "
          f"The first grammar of a process is not in the table: {first[0]:.0f} µs in leveret, {first[1]:.0f} in llguidance.")


if __name__ == "__main__":
    main(*sys.argv[1:])
