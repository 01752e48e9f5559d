# For tests of waits: source it after tap.sh.

facts() { python3 "$TOP/tests/e2e/profile_metadata.py" "$WORK/p.json.gz" "$@"; }
# waited THREAD REASON [OBJECT]: ms
waited() {
    facts waits | awk -v thread="$1" -v reason="$2" -v object="${3-}" \
        '$3 == thread && $4 == reason && (!object || index($0, object)) { sum += $1 } END { print sum + 0 }'
}
count() { facts waits | awk -v thread="$1" -v reason="$2" '$3 == thread && $4 == reason { sum += $2 } END { print sum + 0 }'; }
# balanced: for each thread of some age on-CPU and off-CPU time are the time that it was there, within 1 % or, for the short
# waits after its last sample, 8 ms, and the weights say the same. With a NAME only of threads of that name.
balanced() { # balanced [NAME]
    facts balance | awk -v name="${1-}" '
        function far(a, b) { return (a > b ? a - b : b - a) > 8 + 0.01 * b }
        $1 > 20 && (!name || $6 == name) && (far($4 + $5, $1) || far($4, $2)) { print; bad = 1 }
        END { exit bad || NR == 0 }'
}

known_waits() { # known_waits WHO COMMAND...: the command runs prof, with the options $RECORD_OPTIONS
    local who=$1
    shift
    record_by "$WORK/open/p.json.gz" "$@" "$PROF_HERE" record "${RECORD_OPTIONS[@]}" -s -o "$WORK/open/p.json.gz" "$WORK/open/waits" 400 >/dev/null 2>err
    cp open/p.json.gz p.json.gz
    check "$who: the profile is sound" facts check
    check "$who: running and waiting add up to the lifetime" balanced
    check "$who: two threads wait for one lock, with the name of its variable" between "$(waited contender-1 Mutex "mutex lock")" 200 1500
    check "$who: ... and so does the other" between "$(waited contender-2 Mutex "mutex lock")" 200 1500
    check "$who: a long wait is one wait" equal "$(count contender-1 Mutex)" 1
    check "$who: the function that takes a lock waits for it" at_least "$(facts wait-chain Mutex 'contend|main')" 99
    check "$who: a sleep" between "$(waited sleeper Sleep sleep)" 390 1500
    check "$who: ... in the function that sleeps" at_least "$(facts wait-chain Sleep 'sleeper|holder|contend|main|parent' pause_for)" 98
    check "$who: a pipe" between "$(waited reader Pipe pipe:)" 300 1500
    check "$who: ... is read" at_least "$(facts wait-chain Pipe reader read)" 99
    check "$who: a socket that is polled" between "$(waited listener Network socket:)" 390 1500
    check "$who: a child" between "$(waited parent Child)" 300 1500
    check "$who: a running thread waits only for a CPU" equal "$(facts waits | awk '$3 == "burner" && $4 != "Runnable" && $1 > 5')" ""
    check "$who: its CPU time is not that of a wait" between "$(facts user-self 'burner|now')" 50 100
}

# As root and as an ordinary user.
known_waits_of_all() {
    mkdir -m 777 open
    cp "$TARGETS/waits" open/waits
    PROF_HERE=$PROF
    known_waits "$1" env
    if [ "$(id -u)" != 0 ]; then
        skip "an ordinary user" "needs root"
    elif [ -z "$(find / -maxdepth 0 -perm -o+x)" ]; then # the user nobody can start nothing
        skip "an ordinary user" "others may not enter the root directory"
    else
        chmod 755 "$WORK"
        cp "$PROF" open/prof
        PROF_HERE=$WORK/open/prof
        known_waits "an ordinary user" setpriv --reuid 65534 --regid 65534 --clear-groups
    fi
}
