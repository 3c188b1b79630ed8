"""mistral.rs. It takes text, tells text, and measures itself."""

import os

import protocol
import mistralrs
from mistralrs import Architecture, CompletionRequest, ModelDType, Runner, Which


def load(request):
    path = request["model"]
    if request["variant"] == "gguf":
        # The tokenizer is that of the folder beside: the same model.
        folder, name = os.path.split(path)
        which = Which.GGUF(quantized_model_id=folder, quantized_filename=name)
    else:
        which = Which.Plain(model_id=path, arch=Architecture.Llama, dtype=ModelDType.Auto)
    return Runner(which=which, prefix_cache_n=0)


def generate(model, ids, text, n, first):
    response = model.send_completion_request(
        CompletionRequest(model="default", prompt=text, max_tokens=n, temperature=0.0, top_k=1, ignore_eos=True)
    )
    usage = response.usage
    if usage.prompt_tokens != len(ids):
        raise ValueError(f"the prompt has {usage.prompt_tokens} tokens, not {len(ids)}")
    return protocol.Timed(usage.total_prompt_time_sec, usage.total_completion_time_sec, usage.completion_tokens, response.choices[0].text)


protocol.run(getattr(mistralrs, "__version__", "0.9.5"), load, generate)
