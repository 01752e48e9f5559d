/*
 * Tests which recordings the kernel permits to this user. The test opens perf events for a waiting child process, and
 * attaches to the child with ptrace.
 */
#include "cmd/doctor/doctor.h"

#include "os/file_io.h"
#include "os/file_proc.h"
#include "sample/perf_events.h"
#include "sample/tracefs.h"
#include "sample/wakeups.h"

#include <signal.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RATE = 1000 }; /* the default rate of `prof record` */

#define SETTING_UNKNOWN (-1000L)

static long read_setting(const char *name)
{
    return proc_read_kernel_setting(name, SETTING_UNKNOWN);
}

static const char *get_sudo_prefix(void)
{
    return geteuid() ? "sudo " : "";
}

/* Starts a child process that waits until end_child() kills it. */
static pid_t start_child(void)
{
    pid_t pid = fork();
    if (pid == 0) {
        for (;;)
            pause();
    }
    return pid;
}

static void end_child(pid_t pid)
{
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

/* ---- containers ---- */

static void examine_container(struct findings *findings, bool perf_works)
{
    bool container = proc_is_in_container(), filtered = proc_has_seccomp_filter();
    enum finding_state state = perf_works || !(container || filtered) ? FINDING_OK : FINDING_LESS;
    finding_add(findings, state, "container", "container", "%s, %s",
                container ? "in a container" : "not in a container",
                filtered ? "system calls are filtered (seccomp)" : "system calls are not filtered (seccomp)");
    if (state == FINDING_LESS)
        finding_set_fix(findings, "docker run " CONTAINER_OPTIONS " ...");
}

/* The release is such as "5.15.153.1-microsoft-standard-WSL2", also in a container. WSL1, which has no Linux kernel,
 * writes "Microsoft". */
static void examine_windows(struct findings *findings, bool perf_works, bool traces)
{
    char release[128];
    if (file_read_text("/proc/sys/kernel/osrelease", release, sizeof(release)) && strstr(release, "microsoft") &&
        (perf_works || traces))
        finding_add(findings, FINDING_OK, "wsl", "Windows",
                    "in WSL2: prof records Linux programs with %s, but no Windows programs",
                    perf_works ? "perf events" : "ptrace");
}

/* ---- perf events ---- */

static void describe_perf(struct findings *findings, const struct perf_events *events)
{
    bool kernel = events->tier == PERF_TIER_KERNEL_AND_USER;
    finding_add(findings, kernel ? FINDING_OK : FINDING_LESS, "perf_events", "perf events",
                kernel ? "work, for programs and the kernel" : "work, for programs but not for the kernel");
    if (!kernel)
        finding_set_fix(findings, "%ssysctl kernel.perf_event_paranoid=1", get_sudo_prefix());
    finding_add(findings, FINDING_OK, "pmu", "CPU cycles",
                events->hardware
                    ? "counted by the processor"
                    : "not available, as in most virtual machines; prof samples with the CPU clock instead");
}

static void examine_buffers(struct findings *findings, const struct perf_events *events)
{
    struct rlimit limit;
    char locked[32] = "unlimited";
    getrlimit(RLIMIT_MEMLOCK, &limit);
    if (limit.rlim_cur != RLIM_INFINITY)
        snprintf(locked, sizeof(locked), "%" PRIu64 " KiB", (uint64_t)limit.rlim_cur / 1024);
    enum { GOOD_STACK = 32 * 1024 };
    bool is_small = events->stack_size < GOOD_STACK;
    finding_add(
        findings, is_small ? FINDING_LESS : FINDING_OK, "buffers", "buffers",
        "ring buffers of %zu KiB for %zu CPUs, copies of %u KiB per stack (kernel.perf_event_mlock_kb is %ld, 'ulimit -l' is %s)",
        events->ring_size / 1024, events->cpus.length, events->stack_size / 1024, read_setting("perf_event_mlock_kb"),
        locked);
    if (is_small)
        finding_set_fix(findings, "%ssysctl kernel.perf_event_mlock_kb=2052", get_sudo_prefix());
}

/* Tests whether perf events record a child process. */
static bool try_perf(struct findings *findings, pid_t child)
{
    struct perf_events events;
    struct perf_options options = {.rate = RATE, .at_exec = true};
    struct error err = {0};
    int code = perf_events_open(&events, &options, &err);
    if (!code) {
        code = perf_events_add_thread(&events, child, &err);
        if (!code) {
            describe_perf(findings, &events);
            examine_buffers(findings, &events);
        }
        perf_events_close(&events);
    }
    if (!code)
        return true;
    finding_add(findings, FINDING_LESS, "perf_events", "perf events", "%.380s", err.text);
    if (read_setting("perf_event_paranoid") > 2 && !proc_has_seccomp_filter())
        finding_set_fix(findings, "%ssysctl kernel.perf_event_paranoid=2", get_sudo_prefix());
    return false;
}

static void examine_paranoid(struct findings *findings)
{
    long paranoid = read_setting("perf_event_paranoid");
    if (paranoid == SETTING_UNKNOWN) {
        finding_add(findings, FINDING_LESS, "perf_event_paranoid", "other users", "this kernel has no perf events");
        return;
    }
    bool all = paranoid < 1 || geteuid() == 0;
    finding_add(findings, FINDING_OK, "perf_event_paranoid", "whole system",
                "kernel.perf_event_paranoid is %ld: you may %s", paranoid,
                all ? "record all processes (-a)" : "record your own processes, not the whole system (-a)");
    if (!all)
        finding_set_fix(findings, "%ssysctl kernel.perf_event_paranoid=0", get_sudo_prefix());
}

static void examine_rate(struct findings *findings)
{
    long most = read_setting("perf_event_max_sample_rate");
    if (most == SETTING_UNKNOWN)
        return;
    finding_add(findings, most < RATE ? FINDING_LESS : FINDING_OK, "perf_event_max_sample_rate", "sampling rate",
                "up to %ld Hz (kernel.perf_event_max_sample_rate)", most);
    if (most < RATE)
        finding_set_fix(findings, "%ssysctl kernel.perf_event_max_sample_rate=100000", get_sudo_prefix());
}

/* Tests kernel symbols: without permission, all addresses in /proc/kallsyms read as 0. */
static void examine_kernel_symbols(struct findings *findings)
{
    FILE *file = fopen("/proc/kallsyms", "re");
    char line[256] = "";
    bool has_line = file && fgets(line, sizeof(line), file);
    if (file)
        fclose(file);
    bool are_shown = has_line && strtoull(line, NULL, 16) != 0;
    long restrict_ = read_setting("kptr_restrict");
    finding_add(
        findings, are_shown ? FINDING_OK : FINDING_LESS, "kptr_restrict", "kernel names",
        are_shown ? "kernel functions have symbols (kernel.kptr_restrict is %ld, perf_event_paranoid %ld)"
        : has_line
            ? "kernel functions have no symbols for this user: kernel.kptr_restrict is %ld and perf_event_paranoid %ld"
            : "kernel functions have no symbols: prof cannot read /proc/kallsyms (kernel.kptr_restrict is %ld, perf_event_paranoid %ld)",
        restrict_, read_setting("perf_event_paranoid"));
    if (!are_shown && has_line) /* with kptr_restrict 0, users that may sample the kernel may read its addresses */
        finding_set_fix(findings, "%ssysctl %skernel.perf_event_paranoid=1", get_sudo_prefix(),
                        restrict_ > 0 ? "kernel.kptr_restrict=0 " : "");
}

static void examine_tracepoints(struct findings *findings)
{
    static const char *const directories[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};
    bool is_there = false, is_readable = false;
    for (size_t i = 0; i < sizeof(directories) / sizeof(*directories) && !is_readable; i++) {
        char path[128];
        snprintf(path, sizeof(path), "%s/events/sched/sched_waking/id", directories[i]);
        is_readable = access(path, R_OK) == 0;
        is_there |= is_readable || (access(path, F_OK) && errno == EACCES);
    }
    struct wakeups wakeups;
    struct error err = {0};
    bool works = wakeups_open(&wakeups, false, &err) == 0;
    if (works)
        wakeups_close(&wakeups);
    finding_add(findings, works ? FINDING_OK : FINDING_LESS, "tracefs", "tracepoints",
                works         ? "readable: prof records the wakers of waits"
                : is_readable ? "readable, but the kernel refuses events of tracepoints: prof records no wakers"
                : is_there    ? "not readable for this user (tracefs): prof records no wakers"
                              : "tracefs is not mounted: prof records no wakers");
    if (is_readable && !works)
        finding_set_fix(findings, "%ssysctl kernel.perf_event_paranoid=-1", get_sudo_prefix());
    else if (!works) {
        char command[TRACEFS_COMMAND];
        tracefs_format_command(command, is_there);
        finding_set_fix(findings, "%s%s", get_sudo_prefix(), command);
    }
}

/* ---- ptrace and memory ---- */

static bool try_ptrace(pid_t child)
{
    if (ptrace(PTRACE_SEIZE, child, NULL, NULL))
        return false;
    int status;
    bool stopped = ptrace(PTRACE_INTERRUPT, child, NULL, NULL) == 0 && waitpid(child, &status, __WALL) == child;
    ptrace(PTRACE_DETACH, child, NULL, NULL);
    return stopped;
}

static bool try_memory(pid_t child)
{
    static char here;
    char there;
    struct iovec local = {.iov_base = &there, .iov_len = 1}, remote = {.iov_base = &here, .iov_len = 1};
    return process_vm_readv(child, &local, 1, &remote, 1, 0) == 1;
}

static bool examine_ptrace(struct findings *findings, pid_t child, bool perf_works)
{
    bool reads = try_memory(child), traces = try_ptrace(child);
    long scope = read_setting("yama/ptrace_scope");
    enum finding_state state = traces && reads ? FINDING_OK : perf_works ? FINDING_LESS : FINDING_FAILED;
    finding_add(findings, state, "ptrace", "ptrace",
                !traces  ? "not permitted: prof cannot record without perf events"
                : !reads ? "works, but prof cannot read the memory of other processes: deep stacks are truncated"
                         : "works: prof can record without perf events, and complete deep stacks");
    if (scope != SETTING_UNKNOWN) {
        bool is_limited = scope > 0 && geteuid() != 0;
        finding_add(
            findings, is_limited ? FINDING_LESS : FINDING_OK, "ptrace_scope", "running programs",
            is_limited
                ? "kernel.yama.ptrace_scope is %ld: with -p, prof truncates deep stacks, and cannot sample with ptrace"
                : "kernel.yama.ptrace_scope is %ld: no limits for this user",
            scope);
        if (is_limited)
            finding_set_fix(findings, "%ssysctl kernel.yama.ptrace_scope=0", get_sudo_prefix());
    }
    return traces && reads;
}

bool doctor_examine_recording(struct findings *findings)
{
    pid_t child = start_child();
    if (child < 0) {
        finding_add(findings, FINDING_FAILED, "process", "processes", "cannot start a child process: %s",
                    strerror(errno));
        return false;
    }
    bool perf = try_perf(findings, child);
    examine_paranoid(findings);
    examine_rate(findings);
    examine_kernel_symbols(findings);
    examine_tracepoints(findings);
    bool traces = examine_ptrace(findings, child, perf);
    examine_container(findings, perf);
    examine_windows(findings, perf, traces);
    end_child(child);
    return perf || traces;
}
