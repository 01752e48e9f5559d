"""Python stacks of many known shapes, one after the other, most of them only some us long.
usage: shapes.py SECONDS (of CPU time)

Each call stands on a line that names what it calls, so that a test can hold each sampled stack against this text. Each
shape that calls through C code calls through another function of C, and a function of its own: so a test can also hold
the Python frames against the native ones between them.
"""
import functools
import itertools
import re
import sys
import threading
import time

DATA = list(range(6))


def by_key(value):  # list.sort()
    total = 0
    for i in range(20):
        total += i * value
    return total


def by_reduce(left, right):  # functools.reduce()
    total = left
    for i in range(20):
        total += i * right
    return total


def by_accumulate(left, right):  # itertools.accumulate()
    total = right
    for i in range(20):
        total += i ^ left
    return total


def by_sub(match):  # re.sub()
    total = 0
    for i in range(20):
        total += i + len(match.group())
    return str(total % 10)


def sorts():
    return sorted(DATA, key=by_key)


def reduces():
    return functools.reduce(by_reduce, DATA)


def accumulates():
    return list(itertools.accumulate(DATA, by_accumulate))


def substitutes():
    return re.sub("[aeiou]", by_sub, "a few vowels")


def spin(count):
    total = 0
    for i in range(count):
        total += i * i
    return total


def down(depth):
    if depth == 0:
        return spin(60)
    return down(depth - 1)


def even(depth):
    if depth == 0:
        return spin(40)
    return odd(depth - 1)


def odd(depth):
    if depth == 0:
        return spin(30)
    return even(depth - 1)


def yields(count):
    for i in range(count):
        yield spin(15)


def delegates(count):
    yield from yields(count)


def consumes():
    total = 0
    for value in delegates(3):
        total += value
    return total


def lists():
    return [spin(12) for i in range(4)]


def sums():
    return sum(spin(12) for i in range(4))


def anonymous():
    return sorted(DATA, key=lambda value: spin(value + 10))


def traced(function):
    @functools.wraps(function)
    def wrapper(*arguments):
        return function(*arguments)

    return wrapper


@traced
def decorated(count):
    return spin(count)


class Shape:
    def __init__(self, size):
        self.size = spin(size)

    def area(self):
        return self.size + spin(25)

    @property
    def half(self):
        return spin(18) // 2

    def __enter__(self):
        spin(10)
        return self

    def __exit__(self, kind, value, trace):
        spin(10)


def makes():
    shape = Shape(20)
    return shape.area() + shape.half


def enters():
    with Shape(12) as shape:
        return shape.area()


def raises(depth):
    if depth == 0:
        spin(20)
        raise ValueError("expected")
    return raises(depth - 1)


def catches():
    try:
        raises(4)
    except ValueError:
        return spin(20)


def compiled():
    space = {"spin": spin}
    exec(compile("def made():\n    return spin(30)\n\nmade()\n", "<made>", "exec"), space)


def round_of_shapes():
    sorts()
    reduces()
    accumulates()
    substitutes()
    down(20)
    even(15)
    consumes()
    lists()
    sums()
    anonymous()
    decorated(30)
    makes()
    enters()
    catches()
    compiled()


def until(end):
    while time.thread_time() < end:
        round_of_shapes()


def main():
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 1
    other = threading.Thread(target=until, args=(seconds / 2,), name="other")
    other.start()
    until(seconds / 2)
    other.join()


main()
