"""Converts a Hugging Face folder for ONNX Runtime GenAI: FROM TO FORM.

Activations of the quantised products are 8-bit (accuracy level 4), which is the
engine's fastest way.
"""

import subprocess
import sys
import tempfile

source, target, form = sys.argv[1:]
options = ["accuracy_level=4"]
if form == "int4-asymmetric":
    # A shared asymmetric embedding makes a file that onnxruntime 1.32 refuses.
    options += ["is_symmetric=false", "block_size=32", "shared_embeddings=false"]
with tempfile.TemporaryDirectory() as cache:
    command = [sys.executable, "-m", "onnxruntime_genai.models.builder", "-i", source, "-o", target, "-p", form.split("-")[0], "-e", "cpu", "-c", cache]
    sys.exit(subprocess.run([*command, "--extra_options", *options]).returncode)
