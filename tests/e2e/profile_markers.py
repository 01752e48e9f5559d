#!/usr/bin/env python3
"""Reads the markers and counters of a saved profile, for tests.

    profile_markers.py FILE list [TYPE]     a line each, apart by tabs: name, phase, pid, tid, start, end, payload; times are
                                            ns of CLOCK_MONOTONIC, "-" if there is none
    profile_markers.py FILE count NAME      how many there are of that name
    profile_markers.py FILE counters        a line each: name, pid, values
    profile_markers.py FILE log LOG         compares with the log of tests/targets/marks: says what is wrong, exits 1 if
                                            anything is
    profile_markers.py FILE wall            how far zero by CLOCK_REALTIME is from zero by CLOCK_MONOTONIC, ms
"""

import gzip
import json
import sys
import time
from collections import namedtuple

Marker = namedtuple("Marker", "name phase pid tid start end data")
PHASES = ["instant", "interval", "start", "end"]


def load(path):
    data = open(path, "rb").read()
    return json.loads(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)


def times(values, zero):
    return [None if value is None else zero + round(value * 1e6) for value in values]


def markers(profile):
    zero = profile["meta"]["startTimeAsClockMonotonicNanosecondsSinceBoot"]
    strings = profile["shared"]["stringArray"]
    for thread in profile["threads"]:
        table = thread["markers"]
        starts, ends = times(table["startTime"], zero), times(table["endTime"], zero)
        for i, name in enumerate(table["name"]):
            yield Marker(strings[name], PHASES[table["phase"][i]], thread["pid"].split(".")[0], str(thread["tid"]), starts[i],
                         ends[i], table["data"][i] or {})


def is_near(log, at, slack=2000):
    """Whether a time lies between two of the log, read before and after it. The profile has them in ms."""
    before, after = log
    return before - slack <= at <= after + slack


def check_log(profile, path):
    """Each "before" and "after" of a name holds its marker between them; "start" and "end" hold an interval."""
    pairs, wrong = {}, []
    for line in open(path, encoding="utf-8"):
        parts = line.split()
        if len(parts) == 4:
            pairs.setdefault((parts[0], parts[1]), {})[parts[2]] = int(parts[3])
    found = list(markers(profile))
    for (name, tid), log in pairs.items():
        mine = [m for m in found if m.name == name and m.tid == tid]
        if len(mine) != 1:
            wrong.append(f"{name} of thread {tid}: {len(mine)} markers")
        elif "before" in log and not is_near((log["before"], log["after"]), mine[0].start):
            wrong.append(f"{name} of thread {tid}: at {mine[0].start}, not from {log['before']} to {log['after']}")
        elif "start" in log and (mine[0].start < log["start"] - 2000 or mine[0].end > log["end"] + 2000
                                 or mine[0].end - mine[0].start < 5e6):
            wrong.append(f"{name} of thread {tid}: {mine[0].start} to {mine[0].end}, not in {log}")
    if not pairs:
        wrong.append("the log is empty")
    return wrong


def main():
    profile, command = load(sys.argv[1]), sys.argv[2]
    if command == "list":
        for m in markers(profile):
            if len(sys.argv) < 4 or m.data.get("type") == sys.argv[3]:
                fields = {key: value for key, value in m.data.items() if key != "type"}
                print(m.name, m.phase, m.pid, m.tid, m.start or "-", m.end or "-", json.dumps(fields, ensure_ascii=False),
                      sep="\t")
    elif command == "count":
        print(sum(m.name == sys.argv[3] for m in markers(profile)))
    elif command == "counters":
        for counter in profile.get("counters", []):
            values, sum_ = [], 0
            for change in counter["samples"]["count"]:
                sum_ += change
                values.append(f"{sum_:g}")
            print(counter["name"], counter["pid"], *values)
    elif command == "log":
        wrong = check_log(profile, sys.argv[3])
        print("\n".join(wrong))
        sys.exit(bool(wrong))
    elif command == "wall":
        meta = profile["meta"]
        monotonic = meta["startTimeAsClockMonotonicNanosecondsSinceBoot"] / 1e6
        now = time.clock_gettime(time.CLOCK_REALTIME) * 1e3 - time.clock_gettime(time.CLOCK_MONOTONIC) * 1e3
        print(f"{abs(meta['startTime'] - monotonic - now):.3f}")


main()
