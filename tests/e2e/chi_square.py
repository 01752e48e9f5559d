#!/usr/bin/env python3
"""Compares the samples of functions with their known shares: chi_square.py FILE NAME=SHARE... prints chi-square of the
sample counts, of those alone that have one of the functions as the innermost, and the largest deviation of a share of the
CPU time in percent of all.

Samples at a fixed interval scatter less than independent ones, so the limits of chi-square hold with room to spare.
"""

import sys

from profile_metadata import Profile


def main():
    profile = Profile(sys.argv[1])
    wanted = {name: float(share) for name, share in (word.split("=") for word in sys.argv[2:])}
    counts, times = dict.fromkeys(wanted, 0), dict.fromkeys(wanted, 0.0)
    for thread in profile.json["threads"]:
        samples = thread["samples"]
        cpu = samples.get("threadCPUDelta") or [0] * len(samples["stack"])
        for stack, delta in zip(samples["stack"], cpu):
            if stack is None:
                continue
            name = profile.path(stack)[-1]
            if name in counts:
                counts[name] += 1
                times[name] += delta or 0
    total, time = sum(counts.values()), sum(times.values())
    whole = sum(wanted.values())
    expected = {name: total * share / whole for name, share in wanted.items()}
    square = sum((counts[name] - expected[name]) ** 2 / expected[name] for name in wanted) if total else float("nan")
    off = max(abs(times[name] / time - share / whole) for name, share in wanted.items()) if time else float("nan")
    print(f"{square:.2f} {100 * off:.2f}")


main()
