# For tests that ask the native engine and the WebAssembly engine the same: source it with `set -e`.
#
#     compile PROGRAM SOURCE...    with the objects of lib/: the files that are read are of all formats
#
# $work is a directory of the test's own with small random profiles (random-*.json) and a larger one (synthetic.json.gz),
# all with markers; $build is that of the objects; the working directory is the project's.

top=$(cd "$(dirname "$0")/../.." && pwd)
build=${BUILD:-$top/build}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
command -v node >/dev/null || { echo "1..0 # SKIP node is not installed"; exit 0; }
[ -d "$top/web/node_modules/esbuild" ] || { echo "1..0 # SKIP web/node_modules is not installed"; exit 0; }

cd "$top"
libraries=$(pkg-config --libs libcjson libmicrohttpd libelf libdw libisal liblzma capstone libunwind-ptrace libunwind-generic)
! pkg-config --exists libzstd || libraries="$libraries $(pkg-config --libs libzstd)"
compile() { # compile PROGRAM SOURCE...
    program=$1
    shift
    # shellcheck disable=SC2046,SC2086  # the compiler may be two words; no source has a space in its name
    ${CC:-gcc} -std=c11 -D_GNU_SOURCE -O1 -Ilib -Itests -o "$program" "$@" \
        $(ls lib/*/*.c | sed "s,^,$build/,; s,c$,o," | xargs ls 2>/dev/null) -Wl,--as-needed -lz $libraries -liberty -lpthread -lm
}

compile "$work/engine_dump" tests/e2e/engine_dump.c
compile "$work/generate_profile" tests/bench/generate_profile.c
for seed in $(seq 1 60); do
    "$work/engine_dump" --make "$seed" "$work/random-$seed.json"
done
"$work/generate_profile" 20000 6000 4 "$work/synthetic.json.gz" 40 1 3000 4 2>/dev/null
