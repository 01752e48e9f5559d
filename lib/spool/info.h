/*
 * The metadata of a recording. The recorder writes each value under a name (SPOOL_INFO events), and the assembler reads
 * them. Below is a line for each name, with the form of its value. Numbers are decimal. The recorder may write a name
 * again: the last value counts.
 */
#pragma once

#include "base/error.h"
#include "spool/spool.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* At the start. */
#define INFO_COMMAND         "command"         /* the command line, as a shell would take it */
#define INFO_PRODUCT         "product"         /* base name of the program */
#define INFO_START_REALTIME  "start_realtime"  /* ns since the Unix epoch, at the same moment as ... */
#define INFO_START_MONOTONIC "start_monotonic" /* ... ns of CLOCK_MONOTONIC */
#define INFO_CLOCK           "clock"    /* the clock of all times, if it is not CLOCK_MONOTONIC: "clock of perf" */
#define INFO_INTERVAL        "interval" /* ns between two samples of a busy thread */
#define INFO_EVENT           "event" /* "cpu-clock", "cycles", "ptrace"; "none": CPU time is counted, and not sampled */
#define INFO_NO_CPU_TIME     "no_cpu_time"    /* 1: the CPU time of the threads is unknown */
#define INFO_NO_CALL_GRAPHS  "no_call_graphs" /* 1: a perf.data file whose samples have no stacks */
#define INFO_TIER            "tier"           /* "kernel and user", "user only", "ptrace" */
#define INFO_WHOM                                                                                                      \
    "whom" /* which processes, if not a command or processes with their children: "all processes", "cgroup /x" ... */
#define INFO_FILTERS "filters" /* what else is left out, as options: "--cpu 0-1 --thread 'worker-*'" */
#define INFO_TIER_NOTES                                                                                                \
    "tier_notes"                /* what the recorder may not record, and the setting that allows it; may be empty */
#define INFO_BOOT        "boot" /* which boot of the machine: /proc/sys/kernel/random/boot_id */
#define INFO_STACK_BYTES "stack_bytes" /* copied with each sample */
#define INFO_RECORDER    "recorder"    /* "prof 0.1.0" */
#define INFO_SWITCHES    "switches" /* 1: it is known when each thread ran, and SPOOL_UNSAMPLED has the rest; 0: not */
#define INFO_OFF_CPU     "off_cpu"  /* 1: waits are recorded; 0: they are not */
#define INFO_WAKERS      "wakers"   /* 1: and who ended them; 0: not */
#define INFO_COUNTERS    "counters" /* the counters, with commas between: "cpu,memory"; "none" */
#define INFO_POWER       "power"    /* what energy is counted of, with commas between: "package-0,core" */

/* At the start: the machine and the system (environment.h). What is unknown is not there. */
#define INFO_SYSTEM       "system"       /* "Debian GNU/Linux 13 (Linux 6.12.1-amd64)" */
#define INFO_MACHINE      "machine"      /* "x86_64" */
#define INFO_KERNEL       "kernel"       /* "Linux 6.12.1-amd64 #1 SMP ..." */
#define INFO_HOST         "host"         /* the name of the machine */
#define INFO_CPU_NAME     "cpu_name"     /* "AMD EPYC 7B13" */
#define INFO_CPUS         "cpus"         /* logical ones, configured */
#define INFO_CORES        "cores"        /* online */
#define INFO_MEMORY       "memory"       /* bytes */
#define INFO_NUMA_NODES   "numa_nodes"   /* how many */
#define INFO_FREQUENCY    "frequency"    /* "performance, 0.80 to 3.50 GHz, turbo on, driver intel_pstate" */
#define INFO_CPUS_ALLOWED "cpus_allowed" /* if prof may not use all: "0-3, time of 2.5 CPUs" */
#define INFO_HYPERVISOR   "hypervisor"   /* "QEMU Standard PC"; "yes": its name is unknown */
#define INFO_CONTAINER    "container"    /* "Docker" */
#define INFO_DIRECTORY    "folder"       /* the working directory of the command or process */
#define INFO_OPTIONS      "options"      /* of prof record, as a shell would take them */
#define INFO_PERF_OPTIONS "perf_options" /* the same of perf record, of a perf.data file */
#define INFO_VARIABLE     "env_"         /* and a name: the value of that environment variable; "(not set)" */

/* Of the events that are sampled beside the clock: this and their number, from 1 on. The last five at the end. */
#define INFO_EVENT_NAME      "event_name_"
#define INFO_EVENT_PERIOD    "event_period_" /* one sample for so many; 0: a frequency, that of the clock */
#define INFO_EVENT_COUNT     "event_count_"  /* how often it happened, sampled or not; 0 unknown */
#define INFO_EVENT_SAMPLES   "event_samples_"
#define INFO_EVENT_TRUNCATED "event_truncated_" /* of these, with a truncated stack */
#define INFO_EVENT_LOST      "event_lost_"      /* samples that had no room */
#define INFO_EVENT_THROTTLED "event_throttled_" /* how often the kernel stopped sampling it for a moment */

/* At the end. */
#define INFO_END_MONOTONIC   "end_monotonic"   /* ns of CLOCK_MONOTONIC: recording stopped */
#define INFO_CPU_TIME        "cpu_time"        /* ns that the recorded threads used, sampled or not; 0 unknown */
#define INFO_TARGET_CPU      "target_cpu"      /* ns by the resource usage of the target; 0 if it did not end */
#define INFO_SURVIVORS       "survivors"       /* processes that run on although the target has ended */
#define INFO_SURVIVOR_NAMES  "survivor_names"  /* some of them: "nginx (1234), nginx (1235) and 3 more" */
#define INFO_FOLLOWED        "followed"        /* 1: the recording went on after the end of the target; else 0 */
#define INFO_WAITS           "waits"           /* stored ... */
#define INFO_WAITS_TRUNCATED "waits_truncated" /* ... of which with a truncated stack ... */
#define INFO_WAITS_BARE      "waits_bare"      /* ... and without a stack, preemptions left out */
#define INFO_WAIT_LOOKS      "wait_looks"      /* ns: looks found the waits, so far apart at most; 0: switches tell */
#define INFO_PYTHON_SAMPLES  "python_samples"  /* whose stack passes through CPython ... */
#define INFO_PYTHON_READ     "python_read"     /* ... with their Python frames ... */
#define INFO_PYTHON_LATE     "python_late"     /* ... and of the others, those whose thread ran on too soon */
#define INFO_LEFT_OUT        "left_out"        /* samples of threads that INFO_FILTERS leaves out */
#define INFO_LIMITS          "limits"          /* processes that have reached a limit of the recorder; may be empty */
#define INFO_SAMPLES_LOST    "samples_lost"    /* had no room in the kernel's buffers, of all events */
#define INFO_THROTTLED       "throttled"       /* how often the kernel stopped the clock of samples for a moment */
#define INFO_BY_LIBUNWIND                                                                                              \
    "completed_by_libunwind"                   /* stacks that libunwind walked to the thread's start, and prof not */
#define INFO_RECORDER_CPU    "recorder_cpu"    /* ns of CPU that the recorder used until the target ended */
#define INFO_RECORDER_MEMORY "recorder_memory" /* bytes, most that was resident */
#define INFO_EXIT                                                                                                      \
    "exit" /* how the target ended: "exit status 0", "killed by SIGSEGV"; "ended" if it ran before; "still running" */

/* At the end: how many stacks are truncated, by reason: this and the key in unwind_ends. */
#define INFO_TRUNCATED "truncated_"

int info_write(struct spool_writer *spool, const char *name, const char *value, struct error *err);
int info_write_number(struct spool_writer *spool, const char *name, uint64_t value, struct error *err);

/* Reads what INFO_BOOT is now. Returns false if it cannot be read. */
bool info_read_boot(char *id, size_t size);

/* Writes words, NULL at the end, quoted where a shell needs quotes. */
int info_write_words(struct spool_writer *spool, const char *name, char *const *words, struct error *err);

/* Writes SPOOL_COMMAND: the command of a process in this form, at most the first INFO_COMMAND_MAX bytes. */
enum { INFO_COMMAND_MAX = 1000 };
int info_write_process_command(struct spool_writer *spool, uint32_t process, char *const *argv, struct error *err);
