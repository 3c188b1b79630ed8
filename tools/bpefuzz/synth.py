"""Random texts and random small tokenizers for fuzz.py."""
import random

import vocab

BYTE_DECODER = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True}
FUSED_DECODER = {"type": "Sequence", "decoders": [BYTE_DECODER, {"type": "Fuse"}]}

O200K = (r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
         r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
         r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+")
TEKKEN = O200K.replace("(?i:'s|'t|'re|'ve|'m|'ll|'d)?", "").replace("{1,3}", "")
GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
DEEPSEEK3 = (r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+|"""
             r""" ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+""")
CL100K = r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+"
REGEXES = [
    GPT2, vocab.LLAMA3, vocab.QWEN2, vocab.QWEN35, O200K, TEKKEN, DEEPSEEK3, DEEPSEEK3.replace(r"\r\n", "\r\n"),
    CL100K, CL100K.replace("{1,3}", ""), vocab.LLAMA3[len("(?i:'s|'t|'re|'ve|'m|'ll|'d)|"):],
    vocab.QWEN2[len("(?i:'s|'t|'re|'ve|'m|'ll|'d)|"):], vocab.LLAMA3.replace("{1,3}", "+"),
    vocab.QWEN2.replace(r"\p{N}|", r"\p{N}{1}|").replace(r"\p{N}]+[\r\n]*", r"\p{N}\r\n]+"),
    vocab.DEEPSEEK_WORDS, vocab.DEEPSEEK_PUNCT, vocab.CJK, r"\s?\p{L}+", r"\s?\p{P}+", r"\s+$", "[\r\n]", r"[\r\n]",
    r"\p{N}{1,3}", r"\p{N}", r"\p{N}+", r"\d{1,3}", r"\d", "[0-9][0-9][0-9]", "[0-9]{3}", r"\p{L}{2,}", " {2,}", r"\s",
    r"\S+", r"[^\n]+", " ?[^(\\s|[.,!?\u2026\u3002\uff0c\u3001\u0964\u06d4\u060c])]+", "[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+",
    r"[a-c\-x]?[\p{Lu}\p{M}b-]+", r"[^a-z\s]?[\d\u0061-\u0063]", "a", r"a?b", r"[^\S]+"[:0] + r"[\p{S}\p{P}]",
]
BEHAVIORS = ["Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"]


def bytes_to_unicode():
    bs = list(range(33, 127)) + list(range(161, 173)) + list(range(174, 256))
    cs, n = bs[:], 0
    for b in range(256):
        if b not in bs:
            bs.append(b)
            cs.append(256 + n)
            n += 1
    return {b: chr(c) for b, c in zip(bs, cs)}


ALPHABET = bytes_to_unicode()
RANGES = [
    (0x20, 0x7e), (0x20, 0x7e), (0x20, 0x7e), (0x0, 0x20), (0x80, 0xff), (0x100, 0x24f), (0x250, 0x36f), (0x370, 0x52f),
    (0x5d0, 0x6ff), (0x900, 0xdff), (0xe00, 0xfff), (0x1100, 0x11ff), (0x1680, 0x180f), (0x1e00, 0x1fff),
    (0x2000, 0x206f), (0x2070, 0x218f), (0x2460, 0x24ff), (0x3000, 0x30ff), (0x4e00, 0x4fff), (0xa640, 0xa7ff),
    (0xac00, 0xad00), (0xf900, 0xfaff), (0xfb00, 0xfdff), (0xfe00, 0xffff), (0x10000, 0x11fff), (0x16a00, 0x16fff),
    (0x1d100, 0x1d7ff), (0x1e000, 0x1e9ff), (0x1f000, 0x1fbff), (0x20000, 0x10ffff),
]
PIECES = [
    " ", "  ", "   ", "\n", "\r\n", "\n\n", "\t", "\r", "\u00a0", "\u3000", "\u2028", "\u0085", "\u200d", "\ufeff", "'s", "'S", "'\u017f",
    "'ll", "'LL", "'Ll", "'re", "'ve", "'t", "'d", "'m", "'", "\u2019s", "the", " the", "Hello", "hello world", "DON'T",
    "12345678", "1", "42", "3.14", "\u0663\u0664", "\u00bd\u00b2\u2167", "e\u0301", "\u00e9", "\u212b", "\ufb01", "\u1e69", "q\u0307\u0323",
    "\u0300" * 3, "a" + "\u0301" * 9, "o" + "\u0302\u0301" * 20, "\u1100\u1161\u11a8", "\uac00\u11a8", "\U0001f600", "\U0001f468\u200d\U0001f469\u200d\U0001f467", "\U0001f1fa\U0001f1e6",
    "\u0130", "I\u0307", "\u03a3\u03c2", "\u00df", "\ufffd", "\u4e2d\u6587", "\u65e5\u672c\u8a9e", "\ud55c\uad6d\uc5b4", "http://x.y/z?a=b", "foo_bar", "CamelCaseWord", "x=1;\n\tif (a) {\n",
    "==", "-----", "...", "!!!", "//\n", "/\n/", "\u0645\u0631\u062d\u0628\u0627", "\u0e2a\u0e27\u0e31\u0e2a\u0e14\u0e35", "\u0939\u093f\u0928\u094d\u0926\u0940", "\U00010d4a\U00011de0", "\u0898", "\u0ec8", "\u1ac5\u0323", "\u05d0\u05bc", "\u01c5\u02b0\u00aa", "$+<=>^`|~",
    "\u09c7\u09be", "\U00011131\U00011127", "\U00011935\U00011930", "\u32ff", "\ua7f2", "\u00b5", "\u0345\u0334", "a\u0334\u0345\u0301", "\u2581",
]


def text(rng, added=()):
    out = []
    for _ in range(rng.choice((1, 2, 3, 5, 8, 20))):
        k = rng.random()
        if k < 0.25:
            lo, hi = rng.choice(RANGES)
            out += [chr(c) for c in (rng.randint(lo, hi) for _ in range(rng.randint(1, 6))) if not 0xd800 <= c <= 0xdfff]
        elif k < 0.75:
            out.append(rng.choice(PIECES))
        elif k < 0.9 and added:
            t = rng.choice(added)
            out.append(t if rng.random() < 0.8 else t[:rng.randint(0, len(t))])
        elif k < 0.95:
            out.append(rng.choice(PIECES) * rng.randint(2, 12))
        else:
            out.append(rng.choice("abc \n'1") * rng.randint(1, 100))
    return "".join(out)


def merges(rng, alphabet, count):
    """Merges that a BPE could have learnt: each side exists already."""
    tokens, rules = list(alphabet), []
    for _ in range(count):
        pool = tokens if rng.random() < 0.5 else list(alphabet) + tokens[-30:]
        a, b = rng.choice(pool), rng.choice(pool)
        if a + b not in tokens and len(a + b) < 12:
            tokens.append(a + b)
            rules.append([a, b])
    return tokens, rules


def normalizer(rng, depth=0):
    kind = rng.choice(["NFC", "NFD", "NFKC", "NFKD", "Lowercase", "Replace", "Prepend", "Strip", "Sequence"])
    if kind == "Replace":
        pattern = rng.choice([{"String": rng.choice([" ", "a", "  ", "\u00e9", "ab"])}, {"Regex": rng.choice([r"\s+", " {2,}", r"\p{N}", "[ab]+"])}])
        return {"type": kind, "pattern": pattern, "content": rng.choice(["", "\u2581", "x", " "])}
    if kind == "Prepend":
        return {"type": kind, "prepend": rng.choice(["\u2581", " ", "xy"])}
    if kind == "Strip":
        return {"type": kind, "strip_left": rng.random() < 0.5, "strip_right": rng.random() < 0.5}
    if kind == "Sequence":
        return {"type": kind, "normalizers": [normalizer(rng, 1) for _ in range(rng.randint(0, 3))] if depth == 0 else []}
    return {"type": kind}


def byte_level(rng, regex=None):
    return {"type": "ByteLevel", "add_prefix_space": rng.random() < 0.3, "trim_offsets": True,
            "use_regex": rng.random() < 0.5 if regex is None else regex}


def pre_tokenizer(rng):
    kind = rng.choice(["ByteLevel", "Digits", "Punctuation", "Split", "Split", "Split"])
    if kind == "ByteLevel":
        return byte_level(rng)
    if kind == "Digits":
        return {"type": kind, "individual_digits": rng.random() < 0.5}
    if kind == "Punctuation":
        return {"type": kind, "behavior": rng.choice(BEHAVIORS)}
    pattern = {"Regex": rng.choice(REGEXES)} if rng.random() < 0.85 else {"String": rng.choice(["a", " ", "\n", "ab", "."])}
    return {"type": kind, "pattern": pattern, "behavior": rng.choice(BEHAVIORS + ["Isolated"] * 4),
            "invert": rng.random() < 0.3}


def tokenizer(rng):
    if rng.random() < 0.15:
        return sentencepiece_like(rng)
    tokens, rules = merges(rng, ALPHABET.values(), rng.randint(0, 400))
    # Frequent letters merge more often than a random draw would have it.
    extra, more = merges(rng, list("etaoin srhl12")[:6] + [ALPHABET[32], ALPHABET[10], "a", "b", "1"], rng.randint(0, 200))
    rules += [r for r in more if r not in rules]
    vocab_ids = {t: i for i, t in enumerate(dict.fromkeys(tokens + extra))}
    stages = [pre_tokenizer(rng) for _ in range(rng.randint(0, 3))]
    stages.append(byte_level(rng))
    if rng.random() < 0.2:
        stages += [pre_tokenizer(rng)]
    pre = stages[0] if len(stages) == 1 else {"type": "Sequence", "pretokenizers": stages}
    model = {"ignore_merges": rng.random() < 0.3, "vocab": vocab_ids,
             "merges": [" ".join(r) for r in rules] if rng.random() < 0.5 else rules}
    if rng.random() < 0.2:  # without some bytes, with or without an unknown token
        for t in rng.sample(sorted(set(ALPHABET.values())), 20):
            if not any(t in r[0] or t in r[1] for r in rules):
                del vocab_ids[t]
        if rng.random() < 0.6:
            model["unk_token"] = rng.choice(sorted(vocab_ids))
            model["fuse_unk"] = rng.random() < 0.5
    norm = normalizer(rng) if rng.random() < 0.5 else None
    tok = vocab.wrap(added(rng, vocab_ids), norm, pre, rng.choice([BYTE_DECODER] * 3 + [FUSED_DECODER]), model)
    if len(set(vocab_ids.values())) != max(vocab_ids.values()) + 1:
        tok["added_tokens"] = []  # their library would number added tokens into the holes
    if rng.random() < 0.3 and tok["added_tokens"]:
        name = tok["added_tokens"][0]["content"]
        tok["post_processor"] = {"type": "Sequence", "processors": [byte_level(rng), {
            "type": "TemplateProcessing",
            "single": [{"SpecialToken": {"id": name, "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}] +
                      [{"SpecialToken": {"id": name, "type_id": 0}}] * rng.randint(0, 2),
            "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
            "special_tokens": {name: {"id": name, "ids": [tok["added_tokens"][0]["id"]], "tokens": [name]}}}]}
    return tok


CONTENTS = ["<s>", "</s>", "<|x|>", "<|xy|>", "<|x", "[A]", "hello", "Hello", "the", " a", "  ", "\n", "\u00e9", "ab", "a", "<L>", "<R>",
            "12", "\u2581x", "\U0001f600", "<\uff5cu\u2581v\uff5c>", "\u00bdq", "_z", "z_"]


def added(rng, ids):
    out, next_id = [], len(ids)
    for content in rng.sample(CONTENTS, rng.choice((0, 1, 3, 6, 10))):
        special = rng.random() < 0.5
        out.append({"id": ids.get(content, next_id), "content": content, "single_word": rng.random() < 0.2,
                    "lstrip": rng.random() < 0.3, "rstrip": rng.random() < 0.3,
                    "normalized": rng.random() < (0.1 if special else 0.6), "special": special})
        next_id += content not in ids
    return out


def sentencepiece_like(rng):
    letters = list("abcdefghilmnorstu\u2581\u00e9\u4e2d1,.")
    tokens, rules = merges(rng, letters, rng.randint(0, 300))
    names = ["<unk>", "<s>", "</s>"] + [f"<0x{b:02X}>" for b in range(256)]
    fallback = rng.random() < 0.7
    if not fallback:
        names = names[:3]
    ids = {t: i for i, t in enumerate(names + tokens)}
    tok = vocab.wrap(
        [{"id": i, "content": c, "single_word": False, "lstrip": rng.random() < 0.3, "rstrip": rng.random() < 0.3,
          "normalized": False, "special": True} for i, c in enumerate(names[:3])],
        None, None, None,
        {"unk_token": rng.choice(["<unk>", None]), "fuse_unk": rng.random() < 0.5, "byte_fallback": fallback,
         "vocab": ids, "merges": rules})
    replace = {"type": "Replace", "pattern": {"String": "\u2581"}, "content": " "}
    strip = {"type": "Strip", "content": " ", "start": 1, "stop": 0}
    tok["decoder"] = {"type": "Sequence", "decoders": [replace, {"type": "ByteFallback"}, {"type": "Fuse"}, strip]}
    if rng.random() < 0.5:
        tok["normalizer"] = {"type": "Sequence", "normalizers": [
            {"type": "Prepend", "prepend": "\u2581"}, {"type": "Replace", "pattern": {"String": " "}, "content": "\u2581"}]}
    else:
        meta = {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": rng.choice(["always", "first", "never"]),
                "split": rng.random() < 0.5}
        tok["pre_tokenizer"] = meta
        if rng.random() < 0.5:
            tok["decoder"] = {k: v for k, v in meta.items()}
    return tok
