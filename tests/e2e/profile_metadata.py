#!/usr/bin/env python3
"""Reads a saved profile independently of prof, for tests, with Python's own JSON and gzip and plain sums.

    profile_metadata.py FILE check                  says what is wrong with indexes, lengths and orders; exits 1 if anything is
    profile_metadata.py FILE samples                samples with a stack, of threads that ran
    profile_metadata.py FILE threads                a line per thread: pid, tid, process name, name, such samples
    profile_metadata.py FILE self NAME              percent of samples whose innermost function is NAME
    profile_metadata.py FILE self-at NAME LINE      percent of samples whose innermost function is NAME, in that line
    profile_metadata.py FILE user-self NAME [LINE]  the same, of the samples that are not in the kernel
    profile_metadata.py FILE total NAME             percent of samples with NAME on the stack
    profile_metadata.py FILE chain A B C            percent of samples with A calling (directly or not) B calling C
    profile_metadata.py FILE complete               percent of samples whose stack is not truncated
    profile_metadata.py FILE roots                  how many samples each outermost function has
    profile_metadata.py FILE named                  percent of frames of samples (weighted) that are not "0x..."
    profile_metadata.py FILE cpu                    CPU time in ms, all threads
    profile_metadata.py FILE waits                  a line per thread and object: ms, waits, thread, reason, object
    profile_metadata.py FILE wakers                 a line per thread, reason and waker, apart by tabs: ms, thread, reason, waker
    profile_metadata.py FILE wait-chain REASON A B  percent of the time waited for REASON with A calling B
    profile_metadata.py FILE wait-time A            ms of waits with A on the stack
    profile_metadata.py FILE events                 a line per event: occurrences, samples, name
    profile_metadata.py FILE event NAME A B         occurrences of the event in samples with A calling B
    profile_metadata.py FILE event-self NAME A      the same in samples whose innermost function is A
    profile_metadata.py FILE balance                a line per thread: ms it was there, on a CPU, off it; by weights on and off
    profile_metadata.py FILE meta KEY               a value of meta
    profile_metadata.py FILE extra LABEL            a value of the info sections
    profile_metadata.py FILE line NAME              source files and lines of the frames of NAME
    profile_metadata.py FILE categories             names of the categories that samples end in

NAME matches a whole function name, or its part before the parameters; A|B is either. Percentages of samples leave out the
CPU time without a sample, "(not sampled)", unless NAME is that: a busy machine takes samples away.
"""

import gzip
import json
import sys

NOT_SAMPLED = ["(not sampled)"]


def load(path):
    data = open(path, "rb").read()
    return json.loads(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)


class Profile:
    def __init__(self, path):
        self.json = load(path)
        shared = self.json["shared"]
        self.strings = shared["stringArray"]
        self.stacks, self.frames, self.funcs = shared["stackTable"], shared["frameTable"], shared["funcTable"]
        self.sources = shared["sources"]
        self.names = [self.strings[n] for n in self.funcs["name"]]
        self.categories = [category["name"] for category in self.json["meta"].get("categories", [])]
        self.prefix = [i - o if o else None for i, o in enumerate(self.stacks["prefixOffset"])]

    def path(self, stack):
        """Functions from the outermost in."""
        names = []
        while stack is not None:
            names.append(self.names[self.frames["func"][self.stacks["frame"][stack]]])
            stack = self.prefix[stack]
        return names[::-1]

    def is_wait(self, stack):
        category = self.frames["category"][self.stacks["frame"][stack]]
        return category is not None and self.categories[category] == "Idle"

    def thread_stacks(self, thread):
        return [stack for stack in thread["samples"]["stack"] if stack is not None and not self.is_wait(stack)]

    def sample_stacks(self):
        for thread in self.json["threads"]:
            yield from self.thread_stacks(thread)

    def waits(self):
        """Thread, stack, ms from its beginning to its end."""
        for thread in self.json["threads"]:
            samples, time, before = thread["samples"], 0, None
            for stack, delta, cpu in zip(samples["stack"], samples["timeDeltas"], samples["threadCPUDelta"]):
                time += delta
                is_wait = stack is not None and self.is_wait(stack)
                if is_wait and before and before[0] == stack and not cpu:
                    yield thread, stack, time - before[1]
                    before = None
                else:
                    before = (stack, time) if is_wait else None

    def wakers(self):
        """Thread, stack, ms and who ended it, of the waits of threads of which that was noted."""
        for thread in self.json["threads"]:
            samples = thread["samples"]
            rows = list(zip(samples["stack"], samples["timeDeltas"], samples["threadCPUDelta"], samples.get("waker", [])))
            for (before, _, _, _), (stack, delta, cpu, waker) in zip(rows, rows[1:]):
                if stack == before and self.is_wait(stack) and not cpu:
                    yield thread, stack, delta, waker

    def event_samples(self, name):
        """Stack and occurrences of each sample of an event that was recorded beside CPU time."""
        for thread in self.json["threads"]:
            for table in thread.get("eventSamples", []):
                if table["event"] == name:
                    yield from zip(table["stack"], table["weight"])

    def reason(self, stack):
        frame = self.stacks["frame"][stack]
        category = self.json["meta"]["categories"][self.frames["category"][frame]]
        return category["subcategories"][self.frames["subcategory"][frame]]

    def share(self, matches):
        """Percent of samples whose path satisfies `matches`."""
        known, hits, count = {}, 0, 0
        for stack in self.sample_stacks():
            if stack not in known:
                path = self.path(stack)
                is_hit = bool(matches(path))
                known[stack] = is_hit, is_hit or path != NOT_SAMPLED
            hits += known[stack][0]
            count += known[stack][1]
        return 100 * hits / count if count else 0

    def self_share(self, name, line=None, outside_kernel=False):
        """Percent of samples whose innermost function has the name, in the line if one is given."""
        hits = count = 0
        for frame in (self.stacks["frame"][stack] for stack in self.sample_stacks()):
            category = self.frames["category"][frame]
            if outside_kernel and category is not None and self.categories[category] == "Kernel":
                continue
            own = self.names[self.frames["func"][frame]]
            is_hit = same_name(own, name) and line in (None, self.frames["line"][frame])
            count += is_hit or [own] != NOT_SAMPLED
            hits += is_hit
        return 100 * hits / count if count else 0


def same_name(name, wanted):
    """Whether it is one of the names, which "|" separates; "0x*" is any name that begins so."""
    return any(name == one or name.split("(")[0] == one or (one.endswith("*") and name.startswith(one[:-1])) for one in wanted.split("|"))


def is_chain(path, wanted):
    rest = iter(path)
    return all(any(same_name(name, want) for name in rest) for want in wanted)


def problems(profile):
    j = profile.json
    shared = j["shared"]

    def column(table, name, limit, nulls=True, none=None):
        for i, value in enumerate(table[name]):
            if value is None and nulls or value == none:
                continue
            if not isinstance(value, int) or not 0 <= value < limit:
                yield f"{name}[{i}] = {value}, of {limit}"
                return

    for name in ("stackTable", "frameTable", "funcTable", "resourceTable", "nativeSymbols", "sources"):
        table = shared[name]
        for key, values in table.items():
            if isinstance(values, list) and len(values) != table["length"]:
                yield f"{name}.{key} has {len(values)} of {table['length']} entries"
    frames, funcs, strings = shared["frameTable"], shared["funcTable"], len(shared["stringArray"])
    for i, prefix in enumerate(profile.prefix):
        if prefix is not None and not 0 <= prefix < i:
            yield f"stack {i} has prefix {prefix}"
    yield from column(shared["stackTable"], "frame", frames["length"], nulls=False)
    yield from column(frames, "func", funcs["length"], nulls=False)
    yield from column(frames, "lib", len(j["libs"]), nulls=False, none=-1)
    yield from column(frames, "category", len(j["meta"]["categories"]))
    yield from column(frames, "nativeSymbol", shared["nativeSymbols"]["length"])
    yield from column(funcs, "name", strings, nulls=False)
    yield from column(funcs, "resource", shared["resourceTable"]["length"], nulls=False, none=-1)
    yield from column(funcs, "source", shared["sources"]["length"])
    for number, thread in enumerate(j["threads"]):
        samples = thread["samples"]
        yield from column(samples, "stack", shared["stackTable"]["length"])
        deltas = samples["timeDeltas"]
        if any(delta < 0 for delta in deltas[1:]):
            yield f"thread {number}: time runs backwards"
        for table in thread.get("eventSamples", []):
            yield from column(table, "stack", shared["stackTable"]["length"])
            if any(len(table[key]) != table["length"] for key in ("stack", "timeDeltas", "weight")):
                yield f"thread {number}: columns of {table['event']} differ in length"
            if any(delta < 0 for delta in table["timeDeltas"][1:]):
                yield f"thread {number}: time of {table['event']} runs backwards"
            if table["event"] not in [event["name"] for event in j["meta"]["sampledEvents"]]:
                yield f"thread {number}: {table['event']} is not in the metadata"
        for key in ("stack", "timeDeltas", "threadCPUDelta"):
            if len(samples[key]) != samples["length"]:
                yield f"thread {number}: {key} has {len(samples[key])} of {samples['length']} entries"


def main():
    profile, question, words = Profile(sys.argv[1]), sys.argv[2], sys.argv[3:]
    if question == "check":
        wrong = list(problems(profile))
        print("\n".join(wrong) or "good")
        sys.exit(bool(wrong))
    elif question == "samples":
        print(sum(1 for _ in profile.sample_stacks()))
    elif question == "threads":
        for thread in profile.json["threads"]:
            print(thread["pid"], thread["tid"], thread["processName"], thread["name"],
                  len(profile.thread_stacks(thread)))
    elif question == "self":
        print(f"{profile.self_share(words[0]):.2f}")
    elif question == "self-at":
        print(f"{profile.self_share(words[0], int(words[1])):.2f}")
    elif question == "user-self":
        print(f"{profile.self_share(words[0], *map(int, words[1:]), outside_kernel=True):.2f}")
    elif question == "total":
        print(f"{profile.share(lambda path: any(same_name(name, words[0]) for name in path)):.2f}")
    elif question == "chain":
        print(f"{profile.share(lambda path: is_chain(path, words)):.2f}")
    elif question == "complete":
        print(f"{profile.share(lambda path: path[0] != '(truncated)'):.2f}")
    elif question == "roots":
        counts = {}
        for stack in profile.sample_stacks():
            root = profile.path(stack)[0]
            counts[root] = counts.get(root, 0) + 1
        for root, count in sorted(counts.items(), key=lambda item: -item[1]):
            print(count, root)
    elif question == "named":
        named = total = 0
        for stack in profile.sample_stacks():
            path = profile.path(stack)
            named += sum(not name.startswith("0x") for name in path)
            total += len(path)
        print(f"{100 * named / total if total else 0:.2f}")
    elif question == "cpu":
        deltas = [d or 0 for t in profile.json["threads"] for d in t["samples"]["threadCPUDelta"]]
        print(f"{sum(deltas) / 1000:.3f}")
    elif question == "waits":
        sums = {}
        for thread, stack, length in profile.waits():
            key = (thread["name"].replace(" ", "_"), profile.reason(stack).replace(" ", "_"), profile.path(stack)[-1])
            time, count = sums.get(key, (0, 0))
            sums[key] = (time + length, count + 1)
        for key, (time, count) in sorted(sums.items(), key=lambda item: -item[1][0]):
            print(f"{time:.3f}", count, *key)
    elif question == "wakers":
        sums = {}
        for thread, stack, length, waker in profile.wakers():
            key = (thread["name"], profile.reason(stack), str(waker))
            sums[key] = sums.get(key, 0) + length
        for key, time in sorted(sums.items(), key=lambda item: -item[1]):
            print(f"{time:.3f}", *key, sep="\t")
    elif question == "wait-time":
        print(sum(length for _, stack, length in profile.waits() if is_chain(profile.path(stack), words)))
    elif question == "wait-chain":
        waits = [(profile.path(stack), length) for _, stack, length in profile.waits() if profile.reason(stack) == words[0]]
        total = sum(length for _, length in waits)
        print(f"{100 * sum(length for path, length in waits if is_chain(path, words[1:])) / total if total else 0:.2f}")
    elif question == "events":
        for event in profile.json["meta"].get("sampledEvents", []):
            weights = [weight for _, weight in profile.event_samples(event["name"])]
            print(sum(weights), len(weights), event["name"])
    elif question == "event":
        print(sum(weight for stack, weight in profile.event_samples(words[0])
                  if stack is not None and is_chain(profile.path(stack), words[1:])))
    elif question == "event-self":
        print(sum(weight for stack, weight in profile.event_samples(words[0])
                  if stack is not None and same_name(profile.path(stack)[-1], words[1])))
    elif question == "balance":
        for thread in profile.json["threads"]:
            samples = thread["samples"]
            end = thread["unregisterTime"] or profile.json["meta"]["profilingEndTime"]
            on, off = 0, 0
            for stack, weight in zip(samples["stack"], samples["weight"]):
                is_wait = stack is not None and profile.is_wait(stack)
                on, off = (on, off + weight) if is_wait else (on + weight, off)
            cpu = sum(delta or 0 for delta in samples["threadCPUDelta"]) / 1000
            there = end - thread["registerTime"]
            print(f"{there:.3f} {cpu:.3f} {there - cpu:.3f} {on:.3f} {off:.3f} {thread['name'].replace(' ', '_')}")
    elif question == "meta":
        print(profile.json["meta"].get(words[0]))
    elif question == "extra":
        for section in profile.json["meta"].get("extra", []):
            for entry in section["entries"]:
                if entry["label"] == words[0]:
                    print(entry["value"])
    elif question == "line":
        seen = set()
        for i in range(profile.frames["length"]):
            func = profile.frames["func"][i]
            source = profile.funcs["source"][func]
            if same_name(profile.names[func], words[0]) and source is not None:
                seen.add((profile.strings[profile.sources["filename"][source]], profile.frames["line"][i]))
        for file, line in sorted(seen, key=str):
            print(f"{file}:{line}")
    elif question == "libs":
        for library in profile.json["libs"]:
            print(library["name"], library["breakpadId"] or "none")
    elif question == "categories":
        leaves = {profile.frames["category"][profile.stacks["frame"][stack]] for stack in profile.sample_stacks()}
        print(" ".join(sorted(profile.categories[c] for c in leaves if c is not None)))
    else:
        sys.exit(f"unknown question {question}")


if __name__ == "__main__":
    main()
