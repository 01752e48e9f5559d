"""For tests in Python: a context for each test, and TAP output.

    from tap import PROF, WORK, finish, test

    with test("a missing file is an error"):
        assert run("load", "missing.json").returncode == 1
    finish()

WORK is an empty directory of the test's own, removed at its end.
"""

import atexit
import contextlib
import os
import pathlib
import shlex
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


def _break_off(kind, exception, trace):
    first_line = str(exception).partition("\n")[0]
    print(f"not ok {len(_results) + 1} - the script broke off: {kind.__name__}: {first_line}", flush=True)
    sys.__excepthook__(kind, exception, trace)


sys.excepthook = _break_off


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


class NotRecorded(Exception):
    """A recorder did not do what the script expects."""


def machine(condition):
    """Whether a condition of tests/machine.py holds."""
    return subprocess.run([TOP / "tests/machine.py", condition], check=False).returncode == 0


def record(*arguments, to=WORK / "p.json.gz", status=0, **options):
    """`prof record -s -o TO` with these arguments: see record_by()."""
    return record_by(to, PROF, "record", "-s", "-o", to, *arguments, status=status, **options)


def record_by(to, *command, status=0, timeout=180, **options):
    """Runs a command line that has a recorder write the file `to`. An earlier one is removed. Raises NotRecorded if the exit
    status is another one or no profile comes; outside of a test() that ends the script."""
    to = pathlib.Path(to)
    to.unlink(missing_ok=True)
    options = {"stdin": subprocess.DEVNULL, "capture_output": True, "text": True, "timeout": timeout, **options}
    done = subprocess.run([str(word) for word in command], check=False, **options)
    check_recorded(to, done.returncode, status, f"{shlex.join(map(str, command))}\n{done.stderr}")
    return done


def check_recorded(to, got, wanted=0, words=""):
    """For a recorder that ran as a Popen: the check of record_by()."""
    if got != wanted or not pathlib.Path(to).exists() or not pathlib.Path(to).stat().st_size:
        raise NotRecorded(f"exit status {got}" + (f" instead of {wanted}" if got != wanted else ", but no profile") + f": {words}")


def need_recorder():
    """Ends the script if prof cannot record `true`: failed, or skipped where the machine permits no recording."""
    with test("prof records"):
        if machine("no-recorder"):
            raise Skip("neither perf events nor ptrace are permitted here")
        record("true", to=WORK / "true.json.gz")
        return
    finish()


def finish():
    print(f"1..{len(_results)}")
    sys.exit(0 if all(_results) else 1)
