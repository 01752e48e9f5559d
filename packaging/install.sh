#!/bin/sh
# install.sh [ARCHIVE]: installs the portable binary of prof from a downloaded prof-VERSION-linux-x86_64.tar.gz, by default the one
# beside this script, to ~/.local. PREFIX=DIR chooses another directory. Needs no root.
set -eu
fail() { echo "install.sh: $*" >&2 && exit 1; }

[ "$(uname -s) $(uname -m)" = "Linux x86_64" ] || fail "prof has no binary for $(uname -s) on $(uname -m), only for Linux on x86_64"
here=$(cd "$(dirname "$0")" && pwd)
archive=${1:-$(ls "$here"/prof-*-linux-x86_64.tar.gz 2>/dev/null | tail -n 1)}
[ -f "$archive" ] || fail "no archive: give the path of prof-VERSION-linux-x86_64.tar.gz"
[ -f "$archive.sha256" ] || fail "no checksum: download ${archive##*/}.sha256 to the directory of the archive"
(cd "$(dirname "$archive")" && sha256sum --status -c "${archive##*/}.sha256") ||
    fail "the checksum of $archive differs from that in $archive.sha256: download both again"

prefix=${PREFIX:-$HOME/.local}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tar -C "$work" -xzf "$archive" --strip-components=1
copy() { # copy DIRECTORY FILE...
    directory=$prefix/$1
    shift
    mkdir -p "$directory"
    cp --remove-destination "$@" "$directory"
}
copy bin "$work/prof"
copy share/man/man1 "$work"/man/*.1
copy share/man/man3 "$work"/man/*.3
copy include/prof "$work/include/prof/marks.h"
copy share/doc/prof "$work/LICENSES" "$work/prof.spdx.json"
for shell in bash-completion/completions/prof:bash zsh/site-functions/_prof:zsh fish/vendor_completions.d/prof.fish:fish; do
    file=$prefix/share/${shell%:*}
    mkdir -p "$(dirname "$file")" && "$prefix/bin/prof" help --completion "${shell#*:}" >"$file"
done
echo "installed: $prefix/bin/prof, $("$prefix/bin/prof" --version)"
case :$PATH: in *:"$prefix/bin":*) ;; *) echo "add it to your PATH: export PATH=\"$prefix/bin:\$PATH\"" ;; esac
