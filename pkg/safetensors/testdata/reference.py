"""The reference implementation, for reference_test.go.

    reference.py read    answers every line of standard input, a file in
                         hexadecimal, with its tensors or null if it is refused
    reference.py write   prints files with the tensors that are in them

A tensor is [dtype, shape, data in hexadecimal], by name; a line is JSON.
"""

import ctypes
import json
import sys

import numpy as np
from safetensors import SafetensorError, TensorSpec, deserialize, serialize
from safetensors.numpy import save

# The dtypes that the reference can write, by what it calls them.
WRITABLE = {
    "bool": ("BOOL", 1), "int8": ("I8", 1), "uint8": ("U8", 1), "int16": ("I16", 2),
    "uint16": ("U16", 2), "int32": ("I32", 4), "uint32": ("U32", 4), "int64": ("I64", 8),
    "uint64": ("U64", 8), "float16": ("F16", 2), "bfloat16": ("BF16", 2), "float32": ("F32", 4),
    "float64": ("F64", 8), "complex64": ("C64", 8), "float8_e4m3fn": ("F8_E4M3", 1),
    "float8_e4m3fnuz": ("F8_E4M3FNUZ", 1), "float8_e5m2": ("F8_E5M2", 1),
    "float8_e5m2fnuz": ("F8_E5M2FNUZ", 1), "float8_e8m0fnu": ("F8_E8M0", 1),
}


def read(data):
    try:
        return {name: [t["dtype"], t["shape"], bytes(t["data"]).hex()] for name, t in deserialize(data)}
    except SafetensorError:
        return None


def every_dtype(metadata):
    specs, tensors, keep = {}, {}, []
    for i, (name, (dtype, size)) in enumerate(WRITABLE.items()):
        shape = [[], [3], [0, 4], [2, 3]][i % 4]
        data = bytes((7 * j + i) % 256 for j in range(size * int(np.prod(shape))))
        buffer = ctypes.create_string_buffer(data, max(len(data), 1))
        keep.append(buffer)
        specs[f"t.{i}.{name}"] = TensorSpec(
            dtype=name, shape=shape, data_ptr=ctypes.addressof(buffer), data_len=len(data)
        )
        tensors[f"t.{i}.{name}"] = [dtype, shape, data.hex()]
    return bytes(serialize(specs, metadata=metadata)), tensors


def numpy_file():
    arrays = {
        "half": np.arange(5, dtype=np.float16),
        "matrix \"é😀\"\n": np.arange(12, dtype=np.float32).reshape(3, 4),
        "empty": np.zeros((2, 0), dtype=np.int64),
        "scalar": np.array(1.5),
    }
    names = {"float16": "F16", "float32": "F32", "int64": "I64", "float64": "F64"}
    tensors = {k: [names[v.dtype.name], list(v.shape), v.tobytes().hex()] for k, v in arrays.items()}
    return save(arrays, metadata={"format": "np", "ключ": "\"\\\u0001"}), tensors


if sys.argv[1] == "read":
    for line in sys.stdin:
        print(json.dumps(read(bytes.fromhex(line))))
else:
    for data, tensors in (every_dtype(None), every_dtype({"a": "b"}), numpy_file(), (save({}), {})):
        print(json.dumps({"file": data.hex(), "tensors": tensors}))
