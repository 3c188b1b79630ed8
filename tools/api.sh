#!/bin/sh
# tools/api.sh check   fails when the exported API of pkg lost or changed
#                      something since the baseline, api/v0.export, was written
# tools/api.sh accept  writes the baseline anew; say in CHANGELOG.md what
#                      changed, in the same commit
set -eu
cd "$(dirname "$0")/.."
module=github.com/leveret-os/leveret
baseline=api/v0.export
new=$(mktemp)
log=$(mktemp)
trap 'rm -f "$new" "$log"' EXIT
# What apidiff says of every internal package is shown only when it fails.
apidiff() { go tool -modfile=tools/go.mod apidiff -m "$@" 2>"$log" || { cat "$log" >&2; return 1; }; }

apidiff -w "$new" $module

case ${1:-check} in
check)
	# Commands, the kernel and the rigs promise nothing to importers.
	changes=$(apidiff -incompatible $baseline "$new")
	changes=$(printf '%s' "$changes" | grep -vE "^- (\\./|package $module/)(bench|cmd|kernel)/" || true)
	if [ -n "$changes" ]; then
		printf 'The exported API changed incompatibly:\n%s\n' "$changes"
		echo "If that is meant, run tools/api.sh accept and describe it in CHANGELOG.md."
		exit 1
	fi
	# The commit that last changed the baseline must have told the users.
	commit=$(git log -1 --format=%H -- $baseline 2>/dev/null || true)
	if [ -n "$commit" ] && ! git show --name-only --format= "$commit" | grep -qx CHANGELOG.md; then
		echo "commit $commit changed $baseline but not CHANGELOG.md"
		exit 1
	fi
	;;
accept)
	mkdir -p "$(dirname $baseline)"
	cat "$new" >$baseline
	;;
*)
	echo "usage: tools/api.sh check|accept"
	exit 2
	;;
esac
