#!/usr/bin/env python3
"""Make tokenizer.json from the vocabulary of a GGUF file.

usage: python vocab.py IN.gguf OUT.json

The vocabularies of gpt-2, llama-bpe, mpt, starcoder and others are files of llama.cpp
(models/ggml-vocab-NAME.gguf), which the source distribution of PyPI's llama-cpp-python holds
under vendor/llama.cpp/models. Such a file has the tokens, their types and the merges; the other
stages are those of the models' own tokenizer.json. Needs: gguf.
"""
import json
import sys

import gguf

GPT2 = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
BYTES = dict(GPT2, use_regex=False)
DIGITS = {"type": "Digits", "individual_digits": True}
LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
          r"|\s*[\r\n]+|\s+(?!\S)|\s+")
QWEN2 = LLAMA3.replace(r"\p{N}{1,3}", r"\p{N}")
QWEN35 = QWEN2.replace(r"?\p{L}+", r"?[\p{L}\p{M}]+").replace(r"[^\s\p{L}\p{N}]", r"[^\s\p{L}\p{M}\p{N}]")
# Escaped, since some of these characters change when a text is normalised.
DEEPSEEK_WORDS = (
    "\\s?["
    "A-Za-z\u00b5\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u01ba\u01bc-\u01bf\u01c4-\u0293\u0295-\u02af\u0370"
    "-\u0373\u0376\u0377\u037b-\u037d\u037f\u0386\u0388-\u038a\u038c\u038e-\u03a1\u03a3-\u03f5\u03f7-"
    "\u0481\u048a-\u052f\u0531-\u0556\u10a0-\u10c5\u13a0-\u13f5\u13f8-\u13fd\u1c90-\u1cba\u1cbd-"
    "\u1cbf\u1d00-\u1d2b\u1d6b-\u1d77\u1d79-\u1d9a\u1e00-\u1f15\u1f18-\u1f1d\u1f20-\u1f45\u1f48-"
    "\u1f4d\u1f50-\u1f57\u1f59\u1f5b\u1f5d\u1f5f-\u1f7d\u1f80-\u1fb4\u1fb6-\u1fbc\u1fbe\u1fc2-\u1fc4"
    "\u1fc6-\u1fcc\u1fd0-\u1fd3\u1fd6-\u1fdb\u1fe0-\u1fec\u1ff2-\u1ff4\u1ff6-\u1ffc\u2102\u2107\u210a"
    "-\u2113\u2115\u2119-\u211d\u2124\u2126\u2128\u212a-\u212d\u212f-\u2134\u2139\u213c-\u213f\u2145-"
    "\u2149\u214e\u2183\u2184\u2c00-\u2c7b\u2c7e-\u2ce4\u2ceb-\u2cee\u2cf2\u2cf3\ua640-\ua66d\ua680-"
    "\ua69b\ua722-\ua76f\ua771-\ua787\ua78b-\ua78e\uab70-\uabbf\ufb00-\ufb06\ufb13-\ufb17\uff21-"
    "\uff3a\uff41-\uff5a\U00010400-\U0001044f\U000104b0-\U000104d3\U000104d8-\U000104fb\U00010c80-"
    "\U00010cb2\U00010cc0-\U00010cf2\U000118a0-\U000118df\U0001e900-\U0001e943"
    "]+")
DEEPSEEK_PUNCT = "\\s?[!-/:-~\uff01-\uff0f\uff1a-\uff5e\u2018-\u201f\u3000-\u3002]+"


def split(regex):
    return {"type": "Split", "pattern": {"Regex": regex}, "behavior": "Isolated", "invert": False}


def sequence(*stages):
    return {"type": "Sequence", "pretokenizers": list(stages)}


CJK = "[\u4e00-\u9fa5\u0800-\u4e00\uac00-\ud7ff]+"
NFC = {"type": "NFC"}

# pre-tokeniser name in the GGUF: normaliser, pre-tokeniser, ignore_merges
STAGES = {
    "gpt-2": (None, GPT2, False),
    "llama-bpe": (None, sequence(split(LLAMA3), BYTES), True),
    "mpt": (None, GPT2, False),
    "starcoder": (None, sequence(DIGITS, GPT2), False),
    "refact": (None, sequence(DIGITS, GPT2), False),
    "command-r": (NFC, sequence(DIGITS, GPT2), False),
    "smollm": (None, sequence(DIGITS, GPT2), False),
    "qwen2": (NFC, sequence(split(QWEN2), BYTES), False),
    "qwen35": (None, sequence(split(QWEN35), BYTES), False),
    "falcon": (None, sequence({"type": "Punctuation", "behavior": "Contiguous"}, GPT2,
                              {"type": "Digits", "individual_digits": False},
                              split("[0-9][0-9][0-9]")), False),
    "deepseek-coder": (None, sequence(split("[\r\n]"), split(r"\s?\p{L}+"), split(r"\s?\p{P}+"), split(CJK),
                                      DIGITS, BYTES), False),
    "deepseek-llm": (None, sequence(split("[\r\n]"), split(DEEPSEEK_WORDS), split(DEEPSEEK_PUNCT),
                                    split(r"\s+$"), split(CJK), DIGITS, BYTES), False),
}


def tokenizer(path):
    fields = gguf.GGUFReader(path).fields
    tokens = fields["tokenizer.ggml.tokens"].contents()
    types = fields["tokenizer.ggml.token_type"].contents()
    if fields["tokenizer.ggml.model"].contents() == "llama":
        return sentencepiece(tokens, types, fields["tokenizer.ggml.scores"].contents())
    normalizer, pre, ignore = STAGES[fields["tokenizer.ggml.pre"].contents()]
    control, user = 3, 4
    padding = [t for i, t in enumerate(tokens) if t == f"[PAD{i}]"]  # llama.cpp's own filling
    added = [{"id": i, "content": t, "single_word": False, "lstrip": False, "rstrip": False,
              "normalized": types[i] == user, "special": types[i] == control}
             for i, t in enumerate(tokens) if types[i] in (control, user) and t not in padding]
    vocab = {t: i for i, t in enumerate(tokens) if t not in padding}
    return wrap(added, normalizer, pre, dict(GPT2, add_prefix_space=True), {
        "ignore_merges": ignore, "vocab": vocab, "merges": fields["tokenizer.ggml.merges"].contents()})


def sentencepiece(tokens, types, scores):
    """Llama 2: the merges follow from the scores, as transformers' converter makes them."""
    vocab = {t: i for i, t in enumerate(tokens)}
    merges = []
    for t, i in vocab.items():
        local = [(t[:k], t[k:]) for k in range(1, len(t)) if t[:k] in vocab and t[k:] in vocab]
        merges += [(a, b, scores[i]) for a, b in sorted(local, key=lambda p: (vocab[p[0]], vocab[p[1]]))]
    merges.sort(key=lambda m: m[2], reverse=True)
    added = [{"id": i, "content": t, "single_word": False, "lstrip": False, "rstrip": False,
              "normalized": False, "special": True} for i, t in enumerate(tokens) if types[i] in (2, 3)]
    tok = wrap(added, {"type": "Sequence", "normalizers": [
        {"type": "Prepend", "prepend": "▁"},
        {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}]}, None,
        {"type": "Sequence", "decoders": [
            {"type": "Replace", "pattern": {"String": "▁"}, "content": " "}, {"type": "ByteFallback"},
            {"type": "Fuse"}, {"type": "Strip", "content": " ", "start": 1, "stop": 0}]},
        {"unk_token": "<unk>", "fuse_unk": True, "byte_fallback": True, "ignore_merges": False,
         "vocab": vocab, "merges": [[a, b] for a, b, _ in merges]})
    tok["post_processor"] = {
        "type": "TemplateProcessing",
        "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
        "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
        "special_tokens": {"<s>": {"id": "<s>", "ids": [1], "tokens": ["<s>"]}}}
    return tok


def wrap(added, normalizer, pre, decoder, model):
    return {"version": "1.0", "truncation": None, "padding": None, "added_tokens": added,
            "normalizer": normalizer, "pre_tokenizer": pre, "post_processor": None, "decoder": decoder,
            "model": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
                      "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False, **model}}


if __name__ == "__main__":
    with open(sys.argv[2], "w", encoding="utf-8") as f:
        json.dump(tokenizer(sys.argv[1]), f, ensure_ascii=False)
