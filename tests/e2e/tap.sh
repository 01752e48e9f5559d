# For tests written in bash: source it, make calls of `check`, end with `finish`.
#
#     . "$(dirname "$0")/tap.sh"
#     check "help lists the commands" contains "$("$PROF" help)" "prof record"
#     finish
#
# $WORK is an empty directory of the test's own, removed at its end; $TOP is the project.

set -u
TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
: "${PROF:=$TOP/build/prof}" "${TARGETS:=$TOP/build/targets}" "${BUILD:=$TOP/build}"
WORK=$(mktemp -d "${TMPDIR:-/tmp}/prof-test-XXXXXX")
FAILURES=$WORK.failed # what failed in functions that may run in a subshell, as lines of TAP: check and finish report them
trap 'rm -rf "$WORK" "$FAILURES"' EXIT
export XDG_CACHE_HOME=$WORK/cache XDG_STATE_HOME=$WORK/state # those of the user have nothing to do with tests
tap_count=0 tap_failed=0

# check NAME COMMAND...: passes if the command succeeds. Its output is shown if it does not.
check() {
    local name=$1 output
    shift
    report_failures
    tap_count=$((tap_count + 1))
    if output=$("$@" 2>&1); then
        echo "ok $tap_count - $name"
    else
        tap_failed=$((tap_failed + 1))
        echo "not ok $tap_count - $name"
        { printf '%s' "$*" | head -c 1000 && echo && printf '%s' "$output" | head -c 4000 && echo; } | sed 's/^/# /'
    fi
}

skip() { # skip NAME REASON
    tap_count=$((tap_count + 1))
    echo "ok $tap_count - $1 # SKIP $2"
}

report_failures() {
    [ -s "$FAILURES" ] || return 0
    tap_failed=$((tap_failed + $(grep -c "^not ok" "$FAILURES")))
    cat "$FAILURES"
    : >"$FAILURES"
}

# ---- recordings ----

# record [-o FILE] ARGUMENT...: `prof record -s` with these arguments writes FILE, p.json.gz by default. An earlier FILE is
# removed. A check fails, also in a subshell, if the exit status is not $EXIT (0 by default) or no profile comes. Returns the
# exit status of the recorder, or 1. A script sets for all of its recordings $RECORD_OPTIONS, and the files $RECORD_OUT and
# $RECORD_ERR for standard output and error.
RECORD_OPTIONS=() RECORD_OUT= RECORD_ERR=
record() {
    local file=p.json.gz
    [ "$1" != -o ] || { file=$2 && shift 2; }
    record_by "$file" "$PROF" record -s -o "$file" "${RECORD_OPTIONS[@]}" "$@"
}

# record_by FILE COMMAND...: the same for a whole command line that has a recorder write FILE.
record_by() {
    rm -f "$1"
    if [ "$RECORD_ERR" ]; then run_recorder "$@" 2>"$RECORD_ERR"; else run_recorder "$@"; fi
}
run_recorder() {
    local file=$1 status=0
    shift
    if [ "$RECORD_OUT" ]; then "$@" >"$RECORD_OUT"; else "$@"; fi || status=$?
    recorded "$file" $status "$*"
}

# start_recording [-o FILE] ARGUMENT...: record, in the background, as the process $recorder.
# end_recording [PID]: waits for that one, or another, and does what record does at the end.
declare -A recorder_files recorder_commands
start_recording() {
    local file=p.json.gz
    [ "$1" != -o ] || { file=$2 && shift 2; }
    set -- "$PROF" record -s -o "$file" "${RECORD_OPTIONS[@]}" "$@"
    rm -f "$file"
    if [ "$RECORD_ERR" ]; then "$@" 2>"$RECORD_ERR" & else "$@" & fi
    recorder=$!
    recorder_files[$recorder]=$file
    recorder_commands[$recorder]=$*
}
end_recording() {
    local pid=${1:-$recorder} status=0
    wait "$pid" || status=$?
    recorded "${recorder_files[$pid]}" $status "${recorder_commands[$pid]}"
}

# recorded FILE STATUS COMMAND: whether a recorder that ended with STATUS did what the script expects. Shows what the recorder
# printed if it went to a file.
recorded() {
    local why
    if [ "$2" != "${EXIT:-0}" ]; then
        why="exit status $2 instead of ${EXIT:-0}"
    elif [ ! -s "$1" ]; then
        why="no profile"
    else
        return "$2"
    fi
    {
        echo "not ok - a recording: $why"
        printf '%s\n' "$3" | head -c 2000 | sed 's/^/# /'
        [ ! -f /proc/self/fd/2 ] || tail -n 5 /proc/self/fd/2 | sed 's/^/# /'
    } >>"$FAILURES"
    echo "$why" >&2
    [ "$2" = 0 ] || return "$2"
    return 1
}

# need_recorder: the script ends, failed, if prof cannot record `true`: nothing waits for a recorder that is broken. It is
# skipped where the machine permits no recording.
need_recorder() {
    local file=$WORK/true.json.gz
    if "$PROF" record -s -o "$file" true >/dev/null 2>"$WORK/why" && [ -s "$file" ]; then
        rm "$file" "$WORK/why"
        return
    fi
    if machine no-recorder; then
        skip "all recordings" "neither perf events nor ptrace are permitted here"
    else
        check "prof records" eval 'cat "$WORK/why"; false'
    fi
    finish
}

machine() { "$TOP/tests/machine.py" "$1"; } # machine CONDITION: those of tests/machine.py

# ---- commands for check ----

equal() { # equal GOT WANTED
    [ "$1" = "$2" ] || { echo "got:    $1" && echo "wanted: $2" && return 1; }
}
contains() { # contains TEXT PART
    case $1 in *"$2"*) ;; *) echo "got: $1" && echo "which lacks: $2" && return 1 ;; esac
}
exits() { # exits STATUS COMMAND...
    local wanted=$1 status=0 EXIT=$1
    shift
    "$@" </dev/null >/dev/null 2>&1 || status=$?
    equal "exit status $status" "exit status $wanted"
}
says() { # says PART COMMAND...: on standard error
    local wanted=$1
    shift
    contains "$("$@" 2>&1 >/dev/null </dev/null)" "$wanted"
}

at_least() { # at_least NUMBER LIMIT
    awk -v n="$1" -v limit="$2" 'BEGIN { exit !(n != "" && n >= limit) }' || { echo "got $1, wanted at least $2" && return 1; }
}
between() { # between NUMBER LOW HIGH
    awk -v n="$1" -v low="$2" -v high="$3" 'BEGIN { exit !(n != "" && n >= low && n <= high) }' ||
        { echo "got $1, wanted $2 to $3" && return 1; }
}
await() { # await SECONDS COMMAND...: until it succeeds
    local end=$((SECONDS + $1))
    shift
    until "$@"; do
        [ $SECONDS -le $end ] || { echo "still not: $*" && return 1; }
        sleep 0.02
    done
}

is_served() { # is_served COMMAND...: which runs `prof load`: the address answers with the page
    local url status
    : >"$WORK/load.err" # the address of an earlier call
    "$@" 2>"$WORK/load.err" &
    await 30 grep -q 'http://' "$WORK/load.err"
    url=$(grep -o 'http://[^ ]*' "$WORK/load.err")
    if have curl; then curl -s "$url"; else wget -q -O - "$url"; fi | grep -q '<title>'
    status=$?
    kill $! && wait $!
    return $status
}

have() { command -v "$1" >/dev/null 2>&1; }

finish() {
    report_failures
    echo "1..$tap_count"
    [ "$tap_failed" = 0 ]
    exit
}
