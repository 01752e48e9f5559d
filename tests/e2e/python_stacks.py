"""Compares the Python frames of a profile of tests/targets/shapes.py with its source text and with the native frames.

    python_stacks.py FILE SHAPES.PY    prints what is wrong, then "samples N, in Python N, with frames N, wrong N"

Right is: each line of a caller names what it calls, and so do the C functions between the two, where those have names.
"""

import collections
import sys

from profile_metadata import Profile

# Which C function calls a function of the target, as far as the interpreter's file has names.
THROUGH = {
    "by_key": "list_sort",
    "by_reduce": "reduce",
    "by_accumulate": "accumulate_next",
    "by_sub": "pattern_sub",
}
# What calls them without naming them.
NAMED_AS = {
    "traced.<locals>.wrapper": "decorated(",
    "decorated": "function(*arguments)",
    "Shape.__init__": "Shape(",
    "Shape.__enter__": "with ",
    "Shape.__exit__": "with ",
    "Shape.half": ".half",
    "made": "made()",
    "anonymous.<locals>.<lambda>": "lambda",
    "lists.<locals>.<listcomp>": "for i in",
    "sums.<locals>.<genexpr>": "for i in",
    "<module>": "exec(",
}


class Frame(collections.namedtuple("Frame", "name file line is_python")):
    pass


def frames_of(profile, stack):
    """From the outermost in."""
    shared = profile.json["shared"]
    frames, funcs = shared["frameTable"], shared["funcTable"]
    found = []
    while stack is not None:
        frame = profile.stacks["frame"][stack]
        func = frames["func"][frame]
        source = funcs["source"][func]
        category = frames["category"][frame]
        found.append(
            Frame(
                profile.names[func],
                profile.strings[shared["sources"]["filename"][source]] if source is not None else "",
                frames["line"][frame],
                category is not None and profile.categories[category] == "Python",
            )
        )
        stack = profile.prefix[stack]
    return found[::-1]


def call_is_right(caller, callee, text):
    if caller.file.endswith("shapes.py") and (callee.file.endswith("shapes.py") or callee.file == "<made>"):
        line = text[caller.line - 1] if caller.line else ""
        wanted = NAMED_AS.get(callee.name, callee.name.split(".")[-1])
        return wanted in line
    return True


def problems(frames, text):
    """What is wrong with a stack, outermost frame first."""
    last = None
    between = []
    for frame in frames:
        if not frame.is_python:
            between.append(frame.name)
            continue
        if last is None:
            if "shapes.py" not in frame.file and frame.file.endswith(".py") and "threading" not in frame.file \
                    and "importlib" not in frame.file and "site" not in frame.file and "encodings" not in frame.file:
                yield f"begins with {frame}"
        elif not call_is_right(last, frame, text):
            yield f"{last} does not call {frame}"
        through = THROUGH.get(frame.name)
        if through and "list_sort" in known_names and not any(through in name for name in between):
            yield f"{frame} is called through {between}"
        last, between = frame, []


profile = Profile(sys.argv[1])
text = open(sys.argv[2]).read().split("\n")
known_names = {name.split(".")[0].replace("_impl", "") for name in profile.names}
counts = collections.Counter()
shapes = collections.Counter()
wrong = collections.Counter()
for stack in profile.sample_stacks():
    frames = frames_of(profile, stack)
    counts["samples"] += 1
    counts["in"] += any("_PyEval_EvalFrameDefault" in frame.name for frame in frames)
    has_frames = any(frame.is_python for frame in frames)
    counts["with"] += has_frames
    for frame in frames:
        if frame.is_python and frame.file.endswith("shapes.py"):
            shapes[frame.name] += 1
    for problem in problems(frames, text):
        wrong[problem] += 1
        counts["wrong"] += 1
        break
for problem, count in wrong.most_common(10):
    print(count, problem)
print("shapes:", *sorted(shapes))
print(f"samples {counts['samples']}, in Python {counts['in']}, with frames {counts['with']}, wrong {counts['wrong']}")
