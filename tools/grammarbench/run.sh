#!/bin/sh
# Prints the table of docs/grammar.md: pkg/grammar beside PyPI's llguidance, the
# same calls in the same run. Some two minutes. Usage, with a Python that has
# llguidance, tokenizers and numpy:
#
#   PYTHON=python3 tools/grammarbench/run.sh MODEL_FOLDER
set -eu
[ $# = 1 ] || { echo "usage: $0 MODEL_FOLDER" >&2; exit 2; }
model=$(cd "$1" && pwd)
cd "$(dirname "$0")"
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
go run . "$model" ../../pkg/grammar/testdata/schemas/*.json > "$out/calls.jsonl"
"${PYTHON:-python3}" compare.py "$model" "$out/calls.jsonl"
