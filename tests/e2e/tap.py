"""For tests written in python: a context for each test, and TAP at the end.

    from tap import PROF, WORK, finish, test

    with test("a missing file is an error"):
        assert run("load", "missing.json").returncode == 1
    finish()

WORK is an empty folder of the test's own, removed at its end.
"""

import atexit
import contextlib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import traceback

TOP = pathlib.Path(__file__).resolve().parents[2]
PROF = os.environ.get("PROF", str(TOP / "build/prof"))
TARGETS = pathlib.Path(os.environ.get("TARGETS", str(TOP / "build/targets")))
WORK = pathlib.Path(tempfile.mkdtemp(prefix="prof-test-"))
atexit.register(shutil.rmtree, WORK, ignore_errors=True)
# Those of the user have nothing to do with tests.
os.environ.update(XDG_CACHE_HOME=str(WORK / "cache"), XDG_STATE_HOME=str(WORK / "state"))

_results = []


class Skip(Exception):
    """Raise it in a test that cannot run here, with the reason."""


@contextlib.contextmanager
def test(name):
    number = len(_results) + 1
    try:
        yield
    except Skip as reason:
        _results.append(True)
        print(f"ok {number} - {name} # SKIP {reason}", flush=True)
    except Exception:
        _results.append(False)
        print(f"not ok {number} - {name}")
        for line in traceback.format_exc().splitlines():
            print(f"# {line}", flush=True)
    else:
        _results.append(True)
        print(f"ok {number} - {name}", flush=True)


def run(*arguments, timeout=180, **options):
    """prof with these arguments; text output is captured."""
    return subprocess.run(
        [PROF, *map(str, arguments)], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=timeout, **options
    )


def finish():
    print(f"1..{len(_results)}")
    sys.exit(0 if all(_results) else 1)
