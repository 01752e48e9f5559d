#!/usr/bin/env python3
"""Finds the features that this machine lacks, from the kernel, the file system and the search path, independently of prof.

    tests/machine.py CONDITION     exit status 0 if the condition holds, 1 if not

tests/run checks the conditions of tests/allowed_skips, and tests skip by these conditions, so a broken recorder skips no test.
"""

import ctypes
import errno
import functools
import glob
import mmap
import os
import re
import resource
import shutil
import socket
import stat
import struct
import subprocess
import sys
import tempfile

PERF_EVENT_OPEN, SECCOMP, BPF, USERFAULTFD, IO_URING_SETUP = 298, 317, 321, 323, 425  # x86-64
SOFTWARE, CPU_CLOCK = 1, 0
USER_ONLY = 0x60  # exclude_kernel, exclude_hv
PTRACE_TRACEME = 0
SECCOMP_GET_ACTION_AVAIL, SECCOMP_RET_ERRNO = 2, 0x00050000
PR_SET_MM, PR_SET_MM_MAP_SIZE = 35, 15
BPF_PROG_LOAD, BPF_PROG_TYPE_SOCKET_FILTER = 5, 1
NETLINK_SOCK_DIAG, NETLINK_CONNECTOR = 4, 11
CLOCK = "/sys/devices/system/clocksource/clocksource0"
VDSO_CLOCKS = ("tsc", "kvm-clock", "hyperv_clocksource_tsc_page")
TRACEPOINTS = "/sys/kernel/tracing/events"


def libc():
    return ctypes.CDLL(None, use_errno=True)


def opens_event(pid, cpu, excluded=USER_ONLY):
    """Whether perf_event_open() gives a clock of `pid` (0: this process, -1: every process) on `cpu` (-1: any)."""
    attributes = struct.pack("IIQQQQQ", SOFTWARE, 112, CPU_CLOCK, 1000000, 0, 0, excluded).ljust(112, b"\0")
    fd = libc().syscall(PERF_EVENT_OPEN, attributes, pid, cpu, -1, 0)
    if fd >= 0:
        os.close(fd)
    return fd >= 0


def can_trace():
    """Whether ptrace() works: a child asks to be traced."""
    child = os.fork()
    if child == 0:
        os._exit(0 if libc().ptrace(PTRACE_TRACEME, 0, None, None) == 0 else 1)
    return os.waitpid(child, 0)[1] == 0


def filters_system_calls():
    return libc().syscall(SECCOMP, SECCOMP_GET_ACTION_AVAIL, 0, ctypes.byref(ctypes.c_uint32(SECCOMP_RET_ERRNO))) == 0


def has_io_uring():
    library = libc()
    library.syscall(IO_URING_SETUP, 0, None)
    return ctypes.get_errno() not in (errno.ENOSYS, errno.EPERM)


def opens_userfaultfd():
    fd = libc().syscall(USERFAULTFD, os.O_CLOEXEC)
    if fd >= 0:
        os.close(fd)
    return fd >= 0


def compiles_bpf():
    """Whether the kernel loads a program that returns 0, and compiles programs."""
    code = ctypes.create_string_buffer(struct.pack("BBhi", 0xB7, 0, 0, 0) + struct.pack("BBhi", 0x95, 0, 0, 0), 16)
    licence = ctypes.create_string_buffer(b"GPL")
    attributes = struct.pack("IIQQ", BPF_PROG_TYPE_SOCKET_FILTER, 2, ctypes.addressof(code), ctypes.addressof(licence)).ljust(120, b"\0")
    fd = libc().syscall(BPF, BPF_PROG_LOAD, attributes, len(attributes))
    if fd >= 0:
        os.close(fd)
    return fd >= 0 and text_of("/proc/sys/net/core/bpf_jit_enable") != "0"


def has_perfmon():
    """Whether an ordinary user with CAP_PERFMON may sample the kernel."""
    capability = ["--inh-caps", "+perfmon", "--ambient-caps", "+perfmon"]
    with open(__file__, encoding="utf-8") as file:
        script = file.read().replace("sys.exit(0 if", "sys.exit(7 if")
    done = subprocess.run(["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", *capability, "/usr/bin/python3", "-c",
                           script, "no-kernel-events"], capture_output=True, check=False)
    return done.returncode == 1


def waits_for_disk():
    """Whether a page of a file that left the page cache is read from a disk."""
    with tempfile.TemporaryFile() as file:
        file.write(b"x" * (1 << 20))
        file.flush()
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_majflt
        with mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as memory:
            sum(memory[i] for i in range(0, len(memory), mmap.PAGESIZE))
        return resource.getrusage(resource.RUSAGE_SELF).ru_majflt > before


def mounts_over_sysctl():
    script = 'mount --bind "$0" /proc/sys/kernel/kptr_restrict'
    return succeeds("unshare", "-m", "sh", "-c", script, os.path.abspath(__file__))


def reports_exec_state():
    """Whether the kernel has CONFIG_CHECKPOINT_RESTORE, without which it hides where a command line lies."""
    return libc().prctl(PR_SET_MM, PR_SET_MM_MAP_SIZE, ctypes.byref(ctypes.c_uint(0)), 0, 0) == 0


def opens_socket(family, kind, protocol, address):
    try:
        with socket.socket(family, kind, protocol) as opened:
            if address is not None:
                opened.bind(address)
        return True
    except OSError:
        return False


def may_all_read(path):
    """Whether the rights of the file and its directories let every user read it."""
    try:
        directories = [os.path.dirname(path)]
        while directories[-1] != "/":
            directories.append(os.path.dirname(directories[-1]))
        return all(os.stat(one).st_mode & stat.S_IXOTH for one in directories) and bool(os.stat(path).st_mode & stat.S_IROTH)
    except OSError:
        return False


def text_of(path):
    try:
        with open(path, encoding="utf-8") as file:
            return file.read().strip()
    except OSError:
        return ""


def succeeds(*command):
    try:
        return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def builds(name, source, *command):
    """Whether a compiler makes a program of a source file with that name, which is the last argument."""
    with tempfile.TemporaryDirectory() as directory:
        path, program = os.path.join(directory, name), os.path.join(directory, "program")
        with open(path, "w", encoding="utf-8") as file:
            file.write(source)
        return succeeds(*command, program, path)


def makes_cgroup(controller, limit, unified_limit):
    """Whether this user may limit the memory or the CPU time of a process."""
    for mount, limit in ((f"/sys/fs/cgroup/{controller}", limit), ("/sys/fs/cgroup", unified_limit)):
        group = os.path.join(mount, f"prof-test-{os.getpid()}")
        try:
            os.mkdir(group)
        except OSError:
            continue
        try:
            return os.access(os.path.join(group, limit), os.W_OK)
        finally:
            os.rmdir(group)
    return False


def has_static_probes(file):
    libraries = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True, check=False).stdout.splitlines()
    library = next((line.split()[-1] for line in libraries if line.strip().startswith(f"{file} ")), None)
    for path in (f"/usr/bin/{file}", shutil.which(file), library):
        if path and os.path.exists(path):
            notes = subprocess.run(["readelf", "-n", os.path.realpath(path)], capture_output=True, text=True, check=False).stdout
            if "stapsdt" in notes:
                return True
    return False


def has_python(versions):
    """Whether a CPython of one of these versions is on the search path, or one that pyenv installed."""
    for version in versions.split(","):
        candidates = [f"python{version}", "/usr/bin/python3", *glob.glob(os.path.expanduser(f"~/.pyenv/versions/{version}.*/bin/python3"))]
        if any(version_of(candidate) == tuple(map(int, version.split("."))) for candidate in candidates):
            return True
    return False


def version_of(*command):
    try:
        printed = subprocess.run([*command, "--version"], capture_output=True, text=True, check=False).stdout
    except OSError:
        return (0, 0)
    return tuple(map(int, (re.findall(r"(\d+)\.(\d+)", printed) or [(0, 0)])[0]))


def below(version, limit):
    return version < tuple(map(int, limit.split(".")))


# The words after the colon, if any, are the argument.
CONDITIONS = {
    "root": lambda _: os.geteuid() == 0,
    "user": lambda _: os.geteuid() != 0,
    "closed-root": lambda _: not os.stat("/").st_mode & stat.S_IXOTH,  # others may not enter it
    "no-perf-events": lambda _: not opens_event(0, -1),
    "no-kernel-events": lambda _: not opens_event(0, -1, excluded=0),
    "no-system-wide": lambda _: not opens_event(-1, min(os.sched_getaffinity(0))),
    "no-ptrace": lambda _: not can_trace(),
    "no-recorder": lambda _: not opens_event(0, -1) and not can_trace(),
    "no-mounts": lambda _: not succeeds("unshare", "-m", "true"),
    "no-container": lambda _: not succeeds("unshare", "-rmpf", "--mount-proc", "mount", "-t", "tmpfs", "none", "/tmp"),
    "no-pid-namespaces": lambda _: not succeeds("unshare", "-fp", "--mount-proc", "true"),
    "no-network-namespaces": lambda _: not succeeds("unshare", "-n", "true"),
    "no-fuse": lambda _: not os.path.exists("/dev/fuse") or is_machine("no-mounts"),
    "no-userfaultfd": lambda _: not opens_userfaultfd(),
    "no-seccomp": lambda _: not filters_system_calls(),
    "no-io-uring": lambda _: not has_io_uring(),
    "no-bpf": lambda _: not compiles_bpf(),
    "no-perfmon": lambda _: not has_perfmon(),
    "no-kernel-symbols": lambda _: not re.search("^0*[1-9a-f]", text_of("/proc/kallsyms"), re.MULTILINE),
    "no-sysctl-mounts": lambda _: not mounts_over_sysctl(),
    "no-vdso-clock": lambda _: text_of(f"{CLOCK}/current_clocksource") not in VDSO_CLOCKS,
    "no-major-faults": lambda _: not waits_for_disk(),
    "no-uprobes": lambda _: not os.access("/sys/bus/event_source/devices/uprobe/type", os.R_OK),
    "no-tracepoints": lambda _: not os.access(f"{TRACEPOINTS}/sched/sched_waking/id", os.R_OK),
    "no-tracefs": lambda _: not os.path.isdir(TRACEPOINTS)
    and not succeeds("unshare", "-m", "mount", "-t", "tracefs", "tracefs", "/sys/kernel/tracing"),
    "open-tracefs": lambda _: may_all_read(f"{TRACEPOINTS}/sched/sched_waking/id"),
    "paranoid-not": lambda value: text_of("/proc/sys/kernel/perf_event_paranoid") != value,
    "paranoid-below": lambda value: int(text_of("/proc/sys/kernel/perf_event_paranoid") or 99) < int(value),
    "no-checkpoint-restore": lambda _: not reports_exec_state(),
    "no-work-interrupts": lambda _: "IWI:" not in text_of("/proc/interrupts"),
    "no-process-connector": lambda _: os.readlink("/proc/self/ns/pid") != "pid:[4026531836]"
    or not opens_socket(socket.AF_NETLINK, socket.SOCK_DGRAM, NETLINK_CONNECTOR, (0, 1)),
    "no-sock-diag": lambda _: not os.path.exists("/proc/net/unix")
    or not opens_socket(socket.AF_NETLINK, socket.SOCK_DGRAM, NETLINK_SOCK_DIAG, None),
    "no-ipv6": lambda _: not opens_socket(socket.AF_INET6, socket.SOCK_STREAM, 0, ("::1", 0)),
    "no-memory-cgroup": lambda _: not makes_cgroup("memory", "memory.limit_in_bytes", "memory.max"),
    "no-cpu-cgroup": lambda _: not makes_cgroup("cpu", "cpu.cfs_quota_us", "cpu.max"),
    "no-32-bit": lambda _: not builds("a.c", "int main(void) { return 0; }", "gcc", "-m32", "-o"),
    "no-cgo": lambda _: not builds("a.go", 'package main\n\nimport "C"\n\nfunc main() {}\n', "go", "build", "-o"),
    "no-portable": lambda _: not os.path.exists(f"{os.environ.get('BUILD', 'build')}/portable/prof"),
    "no-arm64": lambda _: not shutil.which("qemu-system-aarch64")
    or not os.path.exists(f"{os.environ.get('BUILD', 'build')}-aarch64/kernels/root-arm64"),
    "no-sshd": lambda _: not os.path.exists("/usr/sbin/sshd"),
    "no-static-probes": lambda file: not has_static_probes(file),
    "no-python": lambda versions: not has_python(versions),
    "not-thorough": lambda _: not os.environ.get("THOROUGH"),
    "no-postgres": lambda _: not glob.glob("/usr/lib/postgresql/*/bin/initdb") and not os.path.exists("/usr/bin/initdb"),
    "kernel-below": lambda value: below(tuple(map(int, os.uname().release.split(".")[:1])), value),
    "cpus-below": lambda value: len(os.sched_getaffinity(0)) < int(value),
    "python-below": lambda value: below(sys.version_info[:2], value),
    "rustc-below": lambda value: below(version_of("rustc"), value),
    "without": lambda command: not shutil.which(command),
}


@functools.cache
def is_machine(condition):
    kind, _, value = condition.partition(":")
    return CONDITIONS[kind](value)


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1].partition(":")[0] not in CONDITIONS:
        sys.exit(f"tests/machine.py: give one condition of {', '.join(CONDITIONS)}")
    sys.exit(0 if is_machine(sys.argv[1]) else 1)
