"""A Python stack of 45 different functions, which goes down and up again every 20 us or so.
usage: deep.py SECONDS (of CPU time)"""
import sys
import time

DEPTH = 45
source = "\n".join(
    [f"def level_{i}(count):\n    return level_{i + 1}(count) + {i}\n" for i in range(DEPTH - 3)]
    + [f"def level_{DEPTH - 3}(count):\n    total = 0\n    for i in range(count):\n        total += i * i\n    return total\n"]
)
space = {}
exec(compile(source, "levels.py", "exec"), space)


def main():
    level_0 = space["level_0"]
    start = time.monotonic()
    end, rounds = time.process_time() + (float(sys.argv[1]) if len(sys.argv) > 1 else 1), 0
    while time.process_time() < end:
        level_0(200)
        rounds += 1
    print(rounds, time.monotonic() - start)


main()
