"""A deep interpreter stack: each level sorts with a key function that goes one level deeper.
usage: recurse.py SECONDS (of CPU time)"""
import sys
import time


def work():
    total = 0
    for i in range(2000):
        total += i * i
    return total


def level(depth):
    if depth == 0:
        return work()
    return sorted([depth], key=lambda value: level(value - 1))[0]


end = time.process_time() + float(sys.argv[1] if len(sys.argv) > 1 else 1)
while time.process_time() < end:
    level(45)
