"""Makes the tokenizer of the embedded model.

    tokenizer.py OUT [--text FILE] [--vocab 1536]

Without a text it has bytes only, which is enough to write the text with. Words,
digits, spaces and punctuation are pieces of their own, so that a name has the
same tokens in a task, in a result and in the JSON of a call. What JSON has
around the values, its escapes, and names of tools are one token each.
"""

import argparse

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

SPECIAL = ["<|end|>", "<|user|>", "<|call|>", "<|result|>", "<|system|>"]
SCAFFOLD = ['{"name":"', '","arguments":{"path":"', '","arguments":{"expression":"', '","arguments":{"answer":"', '","arguments":{"url":"', '","content":"', '"}}', "read_file", "list_dir", "write_file", "http_get", '\\"', "\\\\", "\\n", "\\t"]


def make(text, vocab):
    t = Tokenizer(models.BPE())
    t.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Split(Regex(r"\p{L}+"), "isolated"),
        pre_tokenizers.Digits(individual_digits=True),
        pre_tokenizers.Punctuation("isolated"),
        pre_tokenizers.Split(Regex(r"\s"), "isolated"),
        pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
    ])
    t.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(vocab_size=vocab, special_tokens=SPECIAL + SCAFFOLD, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False)

    def lines():
        if text is not None:
            with open(text, encoding="utf-8", errors="replace") as f:
                for line in f:
                    for s in SCAFFOLD:
                        line = line.replace(s, "\n")
                    yield line

    t.train_from_iterator(lines(), trainer)
    t.add_special_tokens(SPECIAL)
    t.add_tokens([AddedToken(s, normalized=False, special=False) for s in SCAFFOLD])
    return t


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("out")
    p.add_argument("--text")
    p.add_argument("--vocab", type=int, default=1536)
    a = p.parse_args()
    t = make(a.text, a.vocab)
    t.save(a.out)
    print("vocabulary", t.get_vocab_size())
