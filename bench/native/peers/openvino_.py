"""OpenVINO GenAI."""

import protocol
import numpy
import openvino
import openvino_genai


def load(request):
    return openvino_genai.LLMPipeline(
        request["model"], "CPU", {"INFERENCE_NUM_THREADS": request["threads"], "PERFORMANCE_HINT": "LATENCY", "ENABLE_CPU_PINNING": False}
    )


def generate(model, ids, text, n, first):
    config = openvino_genai.GenerationConfig()
    config.max_new_tokens = config.min_new_tokens = n
    config.ignore_eos = True
    config.do_sample = False
    config.apply_chat_template = False

    class Streamer(openvino_genai.StreamerBase):
        def write(self, token):
            first()
            return openvino_genai.StreamingStatus.RUNNING

        def end(self):
            pass

    prompt = openvino.Tensor(numpy.array([ids], dtype=numpy.int64))
    mask = openvino.Tensor(numpy.ones((1, len(ids)), dtype=numpy.int64))
    result = model.generate(openvino_genai.TokenizedInputs(prompt, mask), config, Streamer())
    return list(result.tokens[0])


protocol.run(openvino_genai.__version__, load, generate)
