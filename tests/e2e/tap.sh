# For tests written in bash: source it, make calls of `check`, end with `finish`.
#
#     . "$(dirname "$0")/tap.sh"
#     check "help lists the commands" contains "$("$PROF" help)" "prof record"
#     finish
#
# $WORK is an empty folder of the test's own, removed at its end; $TOP is the project.

set -u
TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
: "${PROF:=$TOP/build/prof}" "${TARGETS:=$TOP/build/targets}" "${BUILD:=$TOP/build}"
WORK=$(mktemp -d "${TMPDIR:-/tmp}/prof-test-XXXXXX")
trap 'rm -rf "$WORK"' EXIT
export XDG_CACHE_HOME=$WORK/cache XDG_STATE_HOME=$WORK/state # those of the user have nothing to do with tests
tap_count=0 tap_failed=0

# check NAME COMMAND...: passes if the command succeeds. Its output is shown if it does not.
check() {
    local name=$1 output
    shift
    tap_count=$((tap_count + 1))
    if output=$("$@" 2>&1); then
        echo "ok $tap_count - $name"
    else
        tap_failed=$((tap_failed + 1))
        echo "not ok $tap_count - $name"
        printf '%s\n' "$*" "$output" | head -c 4000 | sed 's/^/# /'
    fi
}

skip() { # skip NAME REASON
    tap_count=$((tap_count + 1))
    echo "ok $tap_count - $1 # SKIP $2"
}

# ---- commands for check ----

equal() { # equal GOT WANTED
    [ "$1" = "$2" ] || { echo "got:    $1" && echo "wanted: $2" && return 1; }
}
contains() { # contains TEXT PART
    case $1 in *"$2"*) ;; *) echo "got: $1" && echo "which lacks: $2" && return 1 ;; esac
}
exits() { # exits STATUS COMMAND...
    local wanted=$1 status=0
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

have() { command -v "$1" >/dev/null 2>&1; }

finish() {
    echo "1..$tap_count"
    [ "$tap_failed" = 0 ]
    exit
}
