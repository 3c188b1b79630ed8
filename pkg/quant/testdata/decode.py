"""Decodes a quantised tensor of a safetensors file.

    python decode.py FILE.safetensors NAME > weights.f32

writes the weights of tensor NAME, row by row, as little-endian float32. It was
written from docs/quantization.md alone, shares no code with the Go packages,
and needs numpy only. Imported, decode_file and decode return numpy arrays.
"""
import json
import struct
import sys

import numpy as np

BLOCK = 32      # weights that share a scale
TILE_ROWS = 16  # rows of a tile


def decode(kind, data, rows, cols):
    """Return the float32 array [rows, cols] of a matrix's bytes."""
    if cols % BLOCK:
        raise ValueError(f"row length {cols} is no multiple of {BLOCK}")
    blocks = cols // BLOCK
    tiles = -(-rows // TILE_ROWS)
    params = {"Q8B32": -(-32 * blocks // 64) * 64, "Q4B32": -(-32 * blocks // 64) * 64, "Q4B32M": 64 * blocks}[kind]
    quants = {"Q8B32": 512, "Q4B32": 256, "Q4B32M": 256}[kind]
    data = np.frombuffer(data, np.uint8)
    if data.size != tiles * (params + blocks * quants):
        raise ValueError(f"{data.size} bytes for {rows}x{cols} weights of {kind}")
    data = data.reshape(tiles, params + blocks * quants)

    if kind == "Q4B32M":  # [tile, block, scale or minimum, row]
        p = data[:, :params].copy().view("<f2").astype(np.float32).reshape(tiles, blocks, 2, TILE_ROWS)
        scale, minimum = p[:, :, 0], p[:, :, 1]
    else:
        p = data[:, : 32 * blocks].copy().view("<f2").astype(np.float32)
        scale, minimum = p.reshape(tiles, blocks, TILE_ROWS), None

    q = data[:, params:]
    if kind == "Q8B32":  # [tile, block, group of 4 weights, row, weight of the group]
        q = q.reshape(tiles, blocks, 8, TILE_ROWS, 4).astype(np.float32) - np.float32(128)
        q = q.transpose(0, 3, 1, 2, 4)
    else:  # [tile, block, group of 8 weights, row, weight of a half group], two nibbles
        q = q.reshape(tiles, blocks, 4, TILE_ROWS, 4)
        q = np.stack([q & 15, q >> 4], axis=4).astype(np.float32)  # [..., row, half, weight]
        if kind == "Q4B32":
            q = q - np.float32(8)
        q = q.transpose(0, 3, 1, 2, 4, 5)
    q = q.reshape(tiles, TILE_ROWS, blocks, BLOCK)

    w = q * scale.transpose(0, 2, 1)[..., None]
    if minimum is not None:
        w = w + minimum.transpose(0, 2, 1)[..., None]
    return w.reshape(tiles * TILE_ROWS, cols)[:rows]


def decode_file(path, name):
    """Return the weights of a quantised tensor of a safetensors file."""
    with open(path, "rb") as f:
        (n,) = struct.unpack("<Q", f.read(8))
        header = json.loads(f.read(n))
        meta = json.loads(header["__metadata__"]["leveret.quantization"])
        if meta["format"] != "leveret-blocks" or meta["version"] != 1:
            raise ValueError(f"unsupported: {meta['format']} version {meta['version']}")
        matrix = meta["tensors"][name]
        start, end = header[name]["data_offsets"]
        f.seek(8 + n + start)
        return decode(matrix["type"], f.read(end - start), *matrix["shape"])


if __name__ == "__main__":
    sys.stdout.buffer.write(decode_file(sys.argv[1], sys.argv[2]).astype("<f4").tobytes())
