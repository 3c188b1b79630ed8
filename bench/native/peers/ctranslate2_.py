"""CTranslate2."""

import json
import os

import protocol
import ctranslate2


def load(request):
    generator = ctranslate2.Generator(
        request["model"], device="cpu", compute_type=request["variant"], inter_threads=1, intra_threads=request["threads"]
    )
    with open(os.path.join(request["model"], "vocabulary.json")) as f:
        return generator, json.load(f)


def generate(model, ids, text, n, first):
    generator, vocabulary = model

    def step(_):
        first()
        return False

    result = generator.generate_batch(
        [[vocabulary[i] for i in ids]], max_length=n, min_length=n, sampling_topk=1, include_prompt_in_result=False, end_token=[], callback=step
    )
    return result[0].sequences_ids[0]


protocol.run(ctranslate2.__version__, load, generate)
