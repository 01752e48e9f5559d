/*
 * Reads data about the kernel and about processes from /proc.
 */
#pragma once

#include "base/standard.h"

/* Returns the number in /proc/sys/kernel/NAME ("perf_event_paranoid"), or `if_unknown` if this kernel lacks or hides
 * the setting. */
long proc_read_kernel_setting(const char *name, long if_unknown);

/* Returns the inode of a namespace ("mnt", "pid", "net"), which is its identity, or 0 if the kernel hides the
 * namespace. `process` is a pid or "self". */
uint64_t proc_read_namespace(const char *process, const char *kind);

/* Whether a process has the namespace of prof, or another one. Both functions return false if the kernel hides the
 * namespace. */
bool proc_shares_namespace(uint32_t pid, const char *kind);
bool proc_has_other_namespace(uint32_t pid, const char *kind);

/* Whether this process is in a pid namespace other than the outermost one. */
bool proc_is_in_pid_namespace(void);

/* Whether this process runs in a container of Docker, Podman, Kubernetes or LXC. */
bool proc_is_in_container(void);

/* Whether a seccomp filter restricts the system calls of this process. Such a filter can refuse perf_event_open()
 * and ptrace(), whatever the settings of the kernel permit. */
bool proc_has_seccomp_filter(void);

/* Options of `docker run` and `podman run` for a container in which prof can record. */
#define CONTAINER_OPTIONS "--cap-add PERFMON --cap-add SYS_PTRACE --security-opt seccomp=unconfined"

/* Fields of /proc/PID/stat, or of /proc/PID/task/TID/stat for a thread. */
struct proc_stat {
    char state; /* 'R' is running or runnable, 'S' and 'D' sleep, 'T' and 't' are stopped, 'Z' and 'X' have ended */
    uint32_t parent; /* pid, or 0 if prof cannot see the parent */
    uint64_t minor_faults, major_faults;
    uint64_t threads, resident_pages; /* threads, and pages of resident memory, of the process */
    uint64_t start_ticks;             /* start, in ticks of CLOCK_BOOTTIME; sysconf(_SC_CLK_TCK) ticks per second */
    uint32_t cpu;                     /* CPU on which the thread ran last */
    bool is_realtime;                 /* SCHED_FIFO, SCHED_RR or SCHED_DEADLINE */
};

/* Parses the text of a stat file. Returns false if malformed. */
bool proc_stat_parse(const char *text, struct proc_stat *stat);

/* Reads and parses /proc/TID/stat. False if the thread no longer exists. */
bool proc_stat_read(uint32_t tid, struct proc_stat *stat);
/* Returns the state of a thread or process, as in struct proc_stat, or 0 if it no longer exists. */
char proc_read_state(uint32_t tid);

/* Whether the process has ended. If only its main thread has ended, /proc/PID/stat shows a zombie with more threads. */
bool proc_stat_has_ended(const struct proc_stat *stat);

/* Whether the process exists and has not ended. */
bool proc_is_running(uint32_t pid);

/* Returns a live thread of the process: `pid`, or another thread if the main thread has ended. An ended main thread has
 * no memory, files, root directory and namespaces, so /proc/PID/maps, exe, root, fd and ns are empty, but the files in
 * /proc/TID are not. `pid` if no thread is left, or if /proc hides the process. */
uint32_t proc_find_living_thread(uint32_t pid);

/* Returns the start of the process (fork, not exec), in ns since the Unix epoch, with a precision of 10 ms, or 0 if
 * unknown. */
uint64_t proc_read_start_time(uint32_t pid);

/* Returns the pid of a process in its innermost pid namespace: the last number of "NSpid:" in /proc/PID/status, which
 * has a pid for each namespace, starting with prof's. `pid` if the file is unreadable. */
uint32_t proc_find_innermost_pid(uint32_t pid);

/* Returns the last number in a line of /proc/PID/status, such as "TracerPid:", or `otherwise` if the line is missing.
 * `pid` 0: of prof itself. */
uint32_t proc_read_status_number(uint32_t pid, const char *key, uint32_t otherwise);

/* Returns the owner of files that a process creates, as a uid in prof's namespace: the last number of "Uid:" in
 * /proc/PID/status. (The owner of /proc/PID is root if the process changed its user.) `otherwise` if the file is
 * unreadable. */
uint32_t proc_find_file_owner(uint32_t pid, uint32_t otherwise);
