/*
 * The metadata of a recording. The recorder writes each value under a name (SPOOL_INFO events), and the assembler reads
 * the values. Below is a line for each name, with the form of its value. Numbers are decimal. The recorder may write a
 * name again: the last value counts.
 */
#pragma once

#include "base/error.h"
#include "spool/spool.h"

/* At the start. */
#define INFO_COMMAND         "command"         /* the command line, quoted for a shell */
#define INFO_PRODUCT         "product"         /* base name of the program */
#define INFO_START_REALTIME  "start_realtime"  /* ns since the Unix epoch at the start */
#define INFO_START_MONOTONIC "start_monotonic" /* ns of CLOCK_MONOTONIC at the same moment */
#define INFO_CLOCK           "clock"    /* the clock of all times, if it is not CLOCK_MONOTONIC: "clock of perf" */
#define INFO_INTERVAL        "interval" /* ns between two samples of a busy thread */
#define INFO_EVENT           "event" /* "cpu-clock", "cycles", "ptrace"; "none": CPU time is counted, and not sampled */
#define INFO_NO_CPU_TIME     "no_cpu_time"    /* 1: the CPU time of the threads is unknown */
#define INFO_NO_CALL_GRAPHS  "no_call_graphs" /* 1: a perf.data file whose samples have no stacks */
#define INFO_TIER            "tier"           /* "kernel and user", "user only", "ptrace" */
#define INFO_SCOPE           "whom"           /* "all processes". Missing for a command, and for pids with children */
#define INFO_FILTERS         "filters" /* other limits of the recording, as options: "--cpu 0-1 --thread 'worker-*'" */
#define INFO_TIER_NOTES      "tier_notes"  /* data that the recorder may not record, and the setting that permits it */
#define INFO_BOOT            "boot"        /* id of the machine's boot: /proc/sys/kernel/random/boot_id */
#define INFO_STACK_BYTES     "stack_bytes" /* limit of stack bytes copied per sample */
#define INFO_RECORDER        "recorder"    /* "prof 0.1.0" */
/* 1: the recorder sees when threads run, and SPOOL_UNSAMPLED_THREAD has the CPU time without samples. Else 0. */
#define INFO_SWITCHES "switches"
#define INFO_OFF_CPU  "off_cpu"  /* 1: the recording has waits, or 0 for no waits */
#define INFO_WAKERS   "wakers"   /* 1: the recording has the wakers of waits, or 0 for no wakers */
#define INFO_COUNTERS "counters" /* recorded counters, separated by commas: "cpu,memory"; "none" */
#define INFO_POWER    "power"    /* parts of the machine with energy counters, separated by commas: "package-0,core" */

/* Written at the start: the machine and the system (environment.h). Unknown values are missing. */
#define INFO_SYSTEM       "system"       /* "Debian GNU/Linux 13 (Linux 6.12.1-amd64)" */
#define INFO_MACHINE      "machine"      /* "x86_64" */
#define INFO_KERNEL       "kernel"       /* "Linux 6.12.1-amd64 #1 SMP ..." */
#define INFO_HOST         "host"         /* the name of the machine */
#define INFO_CPU_NAME     "cpu_name"     /* "AMD EPYC 7B13" */
#define INFO_CPUS         "cpus"         /* number of configured logical CPUs */
#define INFO_CORES        "cores"        /* number of online cores */
#define INFO_MEMORY       "memory"       /* bytes */
#define INFO_NUMA_NODES   "numa_nodes"   /* number of NUMA nodes */
#define INFO_FREQUENCY    "frequency"    /* "performance, 0.80 to 3.50 GHz, turbo on, driver intel_pstate" */
#define INFO_CPUS_ALLOWED "cpus_allowed" /* CPUs that prof may use, if not all: "0-3, time of 2.5 CPUs" */
#define INFO_HYPERVISOR   "hypervisor"   /* "QEMU Standard PC"; "yes": its name is unknown */
#define INFO_CONTAINER    "container"    /* "Docker" */
#define INFO_DIRECTORY    "folder"       /* the working directory of the command or process */
#define INFO_OPTIONS      "options"      /* options of prof record, quoted for a shell */
#define INFO_PERF_OPTIONS "perf_options" /* options of perf record, for a perf.data file */
#define INFO_VARIABLE     "env_" /* prefix of INFO_VARIABLE NAME: value of the environment variable NAME; "(not set)" */

/* Events sampled in addition to the clock: each name is followed by the event's number, from 1. The recorder writes the
 * last five names at the end. */
#define INFO_EVENT_NAME      "event_name_"
#define INFO_EVENT_PERIOD    "event_period_" /* occurrences per sample, or 0 (sampled at the clock's frequency) */
#define INFO_EVENT_COUNT     "event_count_"  /* occurrences of the event, sampled or not, or 0 if unknown */
#define INFO_EVENT_SAMPLES   "event_samples_"
#define INFO_EVENT_TRUNCATED "event_truncated_" /* samples of the event with a truncated stack */
#define INFO_EVENT_LOST      "event_lost_"      /* samples of the event lost because a ring was full */
#define INFO_EVENT_THROTTLED "event_throttled_" /* number of times that the kernel throttled the event */

/* At the end. */
#define INFO_END_MONOTONIC       "end_monotonic" /* ns of CLOCK_MONOTONIC: end of the recording */
#define INFO_CPU_TIME            "cpu_time" /* ns of CPU time of the recorded threads, sampled or not, or 0 if unknown */
#define INFO_TARGET_CPU          "target_cpu" /* ns of CPU time in the target's resource usage; 0: the target has not ended */
#define INFO_SURVIVORS           "survivors"       /* number of processes that outlive the target */
#define INFO_SURVIVOR_NAMES      "survivor_names"  /* these processes: "nginx (1234), nginx (1235) and 3 more" */
#define INFO_FOLLOWED            "followed"        /* 1: the recording continued after the end of the target; else 0 */
#define INFO_WAITS               "waits"           /* number of stored waits */
#define INFO_WAITS_TRUNCATED     "waits_truncated" /* number of waits with a truncated stack */
#define INFO_WAITS_WITHOUT_STACK "waits_bare"      /* number of waits without a stack, except preemptions */
/* ns: the longest time between two checks of a thread. 0 if switch records have all waits. */
#define INFO_WAIT_CHECK_INTERVAL "wait_looks"
#define INFO_PYTHON_SAMPLES      "python_samples" /* number of samples with CPython in their stack */
#define INFO_PYTHON_READ         "python_read"    /* number of samples with Python frames */
#define INFO_PYTHON_LATE         "python_late"    /* samples without Python frames, because the thread had continued */
#define INFO_EXCLUDED_SAMPLES    "left_out"       /* number of dropped samples of threads that INFO_FILTERS excludes */
#define INFO_LIMITS              "limits"       /* processes that have reached a limit of the recorder; may be empty */
#define INFO_SAMPLES_LOST        "samples_lost" /* samples of all events lost because the kernel's buffers were full */
#define INFO_THROTTLED           "throttled"    /* number of times that the kernel throttled the clock of samples */
#define INFO_LIMIT_PERIODS       "cpu_limit_periods"   /* periods in which a CPU limit of the target's cgroup applied */
#define INFO_LIMIT_THROTTLED     "cpu_limit_throttled" /* number of these periods in which the limit stopped threads */
#define INFO_BY_LIBUNWIND        "completed_by_libunwind" /* stacks that prof truncated and libunwind completed */
#define INFO_RECORDER_CPU        "recorder_cpu"           /* ns of CPU time of the recorder until the target ended */
#define INFO_RECORDER_MEMORY     "recorder_memory"        /* bytes: peak resident memory of the recorder */
/* "exit status 0", "killed by SIGSEGV", "still running". "ended" if the target ran before the recording. */
#define INFO_EXIT "exit"

/* Written at the end: number of truncated stacks by reason. The name is followed by the reason's key in unwind_ends. */
#define INFO_TRUNCATED "truncated_"

int info_write(struct spool_writer *spool, const char *name, const char *value, struct error *err);
int info_write_number(struct spool_writer *spool, const char *name, uint64_t value, struct error *err);

/* Reads the current boot id, the form of INFO_BOOT. Returns false if the kernel hides it. */
bool info_read_boot(char *id, size_t size);

/* Writes a list of words (NULL at the end) as one value, quoted for a shell. */
int info_write_words(struct spool_writer *spool, const char *name, char *const *words, struct error *err);

/* Writes SPOOL_COMMAND: the command line of a process, quoted for a shell, at most the first INFO_COMMAND_MAX bytes. */
enum { INFO_COMMAND_MAX = 1000 };
int info_write_process_command(struct spool_writer *spool, uint32_t process, char *const *argv, struct error *err);
