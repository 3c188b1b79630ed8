#!/bin/sh
# bench/kernels/mainline/build.sh [smp|up]...
#
# Builds the mainline kernels that `go run ./bench kernels` compares with, both
# unless named, into leveret/mainline of the user's cache: Debian's source of
# Linux, pinned, on tinyconfig and the fragments beside this script. It takes
# some ten minutes on two cores, 150 MB to fetch and 4 GB of disk meanwhile.
#
# Debian packages: gcc make flex bison bc libelf-dev kmod cpio xz-utils; another
# source of the same version is taken as SOURCE=FILE.deb. Prints what of the
# fragments the kernel's configuration did not take.
set -eu
version=6.12.117-1~deb12u1
sha256=e849faf31ca3555757f3a8877cb01af92122f744f75d1f3102734651c4e14703

here=$(cd "$(dirname "$0")" && pwd)
out=${XDG_CACHE_HOME:-$HOME/.cache}/leveret/mainline
work=$out/build
mkdir -p "$work"

for program in gcc make flex bison bc strip xz; do
	command -v "$program" >/dev/null || { echo "no $program: see the top of $0" >&2; exit 1; }
done

cd "$work"
deb=${SOURCE:-$work/linux-source-6.12_${version}_all.deb}
if [ ! -e "$deb" ]; then
	apt-get download "linux-source-6.12=$version" || {
		echo "no linux-source-6.12 $version here: get it from snapshot.debian.org, and give it as SOURCE=FILE" >&2
		exit 1
	}
fi
echo "$sha256  $deb" | sha256sum -c -
if [ ! -e source/Makefile ]; then
	rm -rf package source
	dpkg-deb -x "$deb" package
	mkdir source
	tar -xJf package/usr/src/linux-source-6.12.tar.xz -C source --strip-components=1
	rm -r package
fi

# The same bytes whoever builds.
export KBUILD_BUILD_TIMESTAMP=2026-01-01 KBUILD_BUILD_USER=leveret KBUILD_BUILD_HOST=leveret KBUILD_BUILD_VERSION=1
[ $# -gt 0 ] || set -- smp up
for variant; do
	o=$work/$variant
	mkdir -p "$o"
	kmake() { make -s -C source O="$o" ARCH=x86_64 "$@"; }
	cat "$here/common.config" "$here/$variant.config" >"$o/fragment"
	kmake tinyconfig
	cat "$o/fragment" >>"$o/.config" # the last word counts
	kmake olddefconfig 2>/dev/null
	while read -r line; do
		case $line in
		CONFIG_*=n) ! grep -q "^${line%=n}=" "$o/.config" || echo "$variant: not taken: $line" ;;
		CONFIG_*) grep -qxF "$line" "$o/.config" || echo "$variant: not taken: $line" ;;
		esac
	done <"$o/fragment"
	kmake -j"$(nproc)" vmlinux
	strip -s -o "$out/vmlinux-lean-$variant" "$o/vmlinux"
	sha256sum "$out/vmlinux-lean-$variant"
done
