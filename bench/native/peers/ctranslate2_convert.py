"""Converts a Hugging Face folder for CTranslate2: FROM TO COMPUTE_TYPE."""

import sys

from ctranslate2.converters import TransformersConverter

source, target, kind = sys.argv[1:]
TransformersConverter(source).convert(target, quantization=kind)
