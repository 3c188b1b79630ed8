"""ONNX Runtime GenAI."""

import json

import protocol
import numpy
import onnxruntime_genai as og


def load(request):
    config = og.Config(request["model"])
    options = {"intra_op_num_threads": request["threads"], "inter_op_num_threads": 1}
    config.overlay(json.dumps({"model": {"decoder": {"session_options": options}}}))
    return og.Model(config)


def generate(model, ids, text, n, first):
    params = og.GeneratorParams(model)
    # A minimum length keeps it from ending, by suppressing the end of text.
    params.set_search_options(max_length=len(ids) + n, min_length=len(ids) + n, do_sample=False, batch_size=1)
    generator = og.Generator(model, params)
    generator.append_tokens(numpy.array([ids], dtype=numpy.int32))
    tokens = []
    for _ in range(n):
        generator.generate_next_token()
        tokens.append(int(generator.get_next_tokens()[0]))
        first()
    return tokens


protocol.run(og.__version__, load, generate)
