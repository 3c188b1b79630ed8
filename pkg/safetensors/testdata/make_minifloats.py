"""Writes minifloats.json: the value of every code of the small float types.

Needs numpy and ml_dtypes. Values are the bits of a float32 in hexadecimal, or
"nan". Of F16, with its 65,536 codes, there is the SHA-256 of the float32
values, little endian, every NaN as 7fc00000.
"""

import hashlib
import json

import ml_dtypes
import numpy as np

TYPES = {
    "F4": (ml_dtypes.float4_e2m1fn, 4),
    "F6_E2M3": (ml_dtypes.float6_e2m3fn, 6),
    "F6_E3M2": (ml_dtypes.float6_e3m2fn, 6),
    "F8_E5M2": (ml_dtypes.float8_e5m2, 8),
    "F8_E4M3": (ml_dtypes.float8_e4m3fn, 8),
    "F8_E8M0": (ml_dtypes.float8_e8m0fnu, 8),
    "F8_E4M3FNUZ": (ml_dtypes.float8_e4m3fnuz, 8),
    "F8_E5M2FNUZ": (ml_dtypes.float8_e5m2fnuz, 8),
}


def hexes(values):
    return ["nan" if np.isnan(v) else "%08x" % v.view(np.uint32) for v in values]


tables = {}
for name, (dtype, bits) in TYPES.items():
    codes = np.arange(1 << bits, dtype=np.uint8)
    tables[name] = hexes(codes.view(dtype).astype(np.float32))

half = np.arange(1 << 16, dtype=np.uint16).view(np.float16).astype(np.float32)
half[np.isnan(half)] = np.uint32(0x7FC00000).view(np.float32)

with open("minifloats.json", "w") as f:
    json.dump(
        {
            "oracle": f"ml_dtypes {ml_dtypes.__version__}, numpy {np.__version__}",
            "f16_sha256": hashlib.sha256(half.astype("<f4").tobytes()).hexdigest(),
            "tables": tables,
        },
        f,
        indent=0,
    )
    f.write("\n")
