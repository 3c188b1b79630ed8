"""Converts a GGUF file to OpenVINO's own form, by its own reader: FROM TO FORM."""

import os
import shutil
import sys
import tempfile

import openvino_genai

source, target, form = sys.argv[1:]
with tempfile.TemporaryDirectory(dir=os.path.dirname(target)) as work:
    # It writes beside the file that it reads.
    os.symlink(source, os.path.join(work, "model.gguf"))
    openvino_genai.LLMPipeline(os.path.join(work, "model.gguf"), "CPU", {"enable_save_ov_model": True})
    os.remove(os.path.join(work, "model.gguf"))
    if not os.listdir(work):
        sys.exit("nothing was saved")
    shutil.copytree(work, target)
