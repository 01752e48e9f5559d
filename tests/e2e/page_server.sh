# For tests of the page: source it after tap.sh.
#
#     serve_profile FILE OPTION...  starts `prof load`, sets $URL; ended with the test. There can be several
#     drive_page SCRIPT ARG...      runs a script of this directory, which prints TAP itself; ends the test

if ! command -v node >/dev/null || [ ! -x "${CHROMIUM:=/usr/bin/chromium}" ]; then
    skip "the page in a browser" "node and chromium are needed"
    finish
fi
export CHROMIUM
servers=()

serve_profile() {
    local log="$WORK/load-${#servers[@]}.log" # its own: an earlier server's address may still be in a shared one
    "$PROF" load --no-open --port 0 "$@" >"$log" 2>&1 &
    servers+=($!)
    trap 'kill "${servers[@]}" 2>/dev/null; rm -rf "$WORK" "$FAILURES"' EXIT
    for _ in $(seq 600); do
        URL=$(grep -so 'https\?://[^ ]*' "$log") && return
        kill -0 "${servers[-1]}" 2>/dev/null || break
        sleep 0.1
    done
    cat "$log" >&2
    exit 1
}

drive_page() {
    local script=$1
    shift
    report_failures
    [ "$tap_failed" = 0 ] || finish
    node "$TOP/tests/e2e/$script" "$@"
    exit
}
