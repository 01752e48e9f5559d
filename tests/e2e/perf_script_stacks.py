"""Compares the stacks of a profile from a perf.data file with those of perf script.

    perf_script_stacks.py PERF.DATA PROFILE.JSON.GZ

Prints "SAMPLES SAME": how many samples of the clock perf script prints, and how many of them have the same stack in the
profile. A frame is compared by its place in its page, because perf prints addresses of the file or of the process. perf
keeps what the kernel found on stacks without frame pointers, at addresses that are no code; prof drops such callers.
"""

import gzip
import json
import re
import subprocess
import sys
from collections import defaultdict

HEADER = re.compile(r"\s*(\d+)\s+([\d.]+):\s+(\S+?):?\s*$")
FRAME = re.compile(r"\s*([0-9a-f]+) (.*) \((.*)\)$")


def stacks_of_profile(path):
    profile = json.load(gzip.open(path))
    shared = profile["shared"]
    stacks, frames, funcs = shared["stackTable"], shared["frameTable"], shared["funcTable"]

    def walk(index):
        while index is not None:
            frame = stacks["frame"][index]
            name = shared["stringArray"][funcs["name"][frames["func"][frame]]]
            if frames["inlineDepth"][frame] == 0 and name != "(truncated)":
                address = frames["address"][frame]
                yield int(name, 16) if address < 0 and name.startswith("0x") else address
            offset = stacks["prefixOffset"][index]
            index = index - offset if offset else None

    categories = [category["name"] for category in profile["meta"]["categories"]]
    idle = categories.index("Idle") if "Idle" in categories else None
    result = defaultdict(list)
    for thread in profile["threads"]:
        time, samples = 0, thread["samples"]
        for i in range(samples["length"]):
            time += samples["timeDeltas"][i]
            stack = samples["stack"][i]
            if stack is not None and frames["category"][stacks["frame"][stack]] != idle:
                result[int(str(thread["tid"]).split(".")[0])].append((time, list(walk(stack))))
    return result


def stacks_of_perf(path):
    command = ["perf", "script", "--no-inline", "-i", path, "-F", "tid,time,event,ip,sym,dso"]
    text = subprocess.run(command, capture_output=True, text=True, errors="replace", check=True).stdout
    result = defaultdict(list)
    for block in text.split("\n\n"):
        lines = block.strip("\n").split("\n")
        header = HEADER.match(lines[0])
        if not header or "clock" not in header[3]:
            continue
        frames = [frame for frame in map(FRAME.match, lines[1:]) if frame and frame[1] != "0"]
        while len(frames) > 1 and frames[-1][2] == frames[-1][3] == "[unknown]":
            frames.pop()
        result[int(header[1])].append((float(header[2]), [int(frame[1], 16) for frame in frames]))
    return result


def is_same(ours, theirs):
    if not theirs:  # a chain without an address, of which prof shows the pc that was sampled
        return len(ours) == 1
    # callers are return addresses there, and calls here; so are the first frames below the kernel's
    return len(ours) == len(theirs) and all(
        (a - b) % 4096 in ((0,) if i == 0 else (0, 4095)) for i, (a, b) in enumerate(zip(ours, theirs))
    )


def main():
    ours, theirs = stacks_of_profile(sys.argv[2]), stacks_of_perf(sys.argv[1])
    same = 0
    for tid, stacks in theirs.items():
        # threads that were given the same number follow each other
        mine = sorted(ours.get(tid, []), key=lambda sample: sample[0])
        same += sum(is_same(a[1], b[1]) for a, b in zip(mine, stacks))
    print(sum(map(len, theirs.values())), same)


main()
