#!/bin/sh
# install.sh [ARCHIVE]: installs the portable binary of prof from a downloaded prof-VERSION-linux-x86_64.tar.gz, by default the one
# beside this script, to ~/.local. PREFIX=DIR chooses another directory. Needs no root. After a failure, nothing is installed.
set -eu
fail() { echo "install.sh: $*" >&2 && exit 1; }

[ "$(uname -s) $(uname -m)" = "Linux x86_64" ] || fail "prof has no binary for $(uname -s) on $(uname -m), only for Linux on x86_64"
here=$(cd "$(dirname "$0")" && pwd)
archive=${1:-$(ls "$here"/prof-*-linux-x86_64.tar.gz 2>/dev/null | tail -n 1)}
[ -f "$archive" ] || fail "no archive: give the path of prof-VERSION-linux-x86_64.tar.gz"
[ -f "$archive.sha256" ] || fail "no checksum: download ${archive##*/}.sha256 to the directory of the archive"
(cd "$(dirname "$archive")" && sha256sum -c "${archive##*/}.sha256" >/dev/null 2>&1) ||
    fail "the checksum of $archive differs from that in $archive.sha256: download both again"

prefix=${PREFIX:-${HOME:+$HOME/.local}}
[ "$prefix" ] || fail "HOME is not set: PREFIX=DIR chooses a directory"
mkdir -p "$prefix" && prefix=$(cd "$prefix" && pwd) && work=$(mktemp -d "$prefix/.prof-XXXXXX") ||
    fail "cannot write to $prefix: PREFIX=DIR chooses another directory"
trap 'status=$?; rm -rf "$work"; [ $status = 0 ] || fail "cannot install to $prefix: nothing is installed"' EXIT
trap 'exit 1' HUP INT TERM
tar -C "$work" -xzf "$archive" --strip-components=1
# stage DIRECTORY FILE...: moves files to their places in $work/prefix
stage() {
    directory=$work/prefix/$1
    shift
    mkdir -p "$directory"
    mv "$@" "$directory"
}
for shell in bash-completion/completions/prof:bash zsh/site-functions/_prof:zsh fish/vendor_completions.d/prof.fish:fish; do
    file=$work/prefix/share/${shell%:*}
    mkdir -p "${file%/*}"
    "$work/prof" help --completion "${shell#*:}" >"$file"
done
stage bin "$work/prof"
stage share/man/man1 "$work"/man/*.1
stage share/man/man3 "$work"/man/*.3
stage include/prof "$work/include/prof/marks.h"
stage share/doc/prof "$work/LICENSES" "$work/prof.spdx.json"
cd "$work/prefix"
for directory in $(find . -type d); do
    mkdir -p "$prefix/$directory"
    [ -w "$prefix/$directory" ] || { echo "no permission to write to $prefix/${directory#./}" >&2 && exit 1; }
done
find . -type f | while read -r file; do
    mv -f "$file" "$prefix/$file"
done
echo "installed: $prefix/bin/prof, $("$prefix/bin/prof" --version)"
case :$PATH: in
*:"$prefix/bin":*) ;;
*) printf '%s\n' "to run it as prof, add this line to ~/.profile, and run the line now:" "    export PATH=\"$prefix/bin:\$PATH\"" ;;
esac
