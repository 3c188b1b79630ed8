#!/bin/sh
# Makes pkg/tiny/model of a checkpoint of training: as Hugging Face's files, and
# of those Q8B32. Usage: tools/tiny/build.sh CHECKPOINT TOKENIZER [OUT]
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
out=${3:-$root/pkg/tiny/model}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
"${PYTHON:-python3}" "$root/tools/tiny/export.py" "$tmp/f32" --tokenizer "$2" --checkpoint "$1"
cd "$root"
go run ./cmd/infer quantize -m "$tmp/f32" -o "$out" --force -q q8b32
ls -l "$out"
