#include "record/counters.h"

#include "os/clock.h"
#include "os/file_io.h"
#include "os/file_proc.h"
#include "record/system_counters.h"
#include "process/tracker.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#define MS UINT64_C(1000000)

static const uint64_t interval = 50 * MS;
static const uint64_t system_interval =
    200 * MS; /* interval of machine counters; the kernel counts CPU busy time in steps of 10 ms */
static const uint64_t most_at_once = 100000; /* ns of CPU time per call, which continues where the last call stopped */

/* Readings take at most 1/600 of a CPU: long ones (the kernel visits all threads of a process, or all interrupt
 * descriptions) delay the next ones. */
static const uint64_t share = 600;
static const uint64_t longest_interval = 1000 * MS;

enum {
    LEAST_AT_ONCE = 2,   /* minimum number of processes that a call reads, even if readings are slow */
    SWAP_READINGS = 20,  /* readings of a process per reading of its swap space */
    FILES_PART = 4,      /* open counter files take at most 1/FILES_PART of the limit of open files */
    FILES_OF_PROCESS = 2 /* limit of files of a process that stay open */
};

const char *const counter_groups[COUNTER_GROUPS] = {
    [COUNT_CPU] = "cpu",           [COUNT_MEMORY] = "memory",   [COUNT_FAULTS] = "faults", [COUNT_IO] = "io",
    [COUNT_SWITCHES] = "switches", [COUNT_THREADS] = "threads", [COUNT_SYSTEM] = "system", [COUNT_POWER] = "power"};

/* Counter state of one process. */
struct process_counters {
    int stat_fd, io_fd; /* -1: not open */
    bool stays_open;
    bool has_values;
    bool is_refused;  /* /proc/PID/io */
    bool begins_anew; /* the process called exec at time `began` */
    uint64_t began;
    uint64_t values[COUNTER_KINDS];
    uint64_t written, looked; /* ns: last reading in the spool; last reading */
    uint32_t until_swap;      /* readings */
};

static bool is_wanted(const struct counters *counters, enum counter_group group)
{
    return counters->options.wanted & 1U << group;
}

/* ---- files of a process ---- */

static int open_proc_file(uint32_t pid, const char *name)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%" PRIu32 "/%s", proc_find_living_thread(pid), name);
    return open(path, O_RDONLY | O_CLOEXEC);
}

static void close_files(struct counters *counters, struct process_counters *process)
{
    if (process->stat_fd >= 0)
        close(process->stat_fd);
    if (process->io_fd >= 0)
        close(process->io_fd);
    process->stat_fd = process->io_fd = -1;
    if (process->stays_open)
        counters->open--;
    process->stays_open = false;
}

/* Reads the start of a /proc file as a string, or false with errno on failure. */
static bool reread_file(int fd, char *text, size_t size)
{
    ssize_t length = fd < 0 ? -1 : pread(fd, text, size - 1, 0);
    text[length > 0 ? length : 0] = '\0';
    return length > 0;
}

/* Whether `errno` is a refusal of a process that still has memory. The kernel also refuses users /proc/PID/io of a
 * process that ends. */
static bool is_refusal(uint32_t pid)
{
    struct proc_stat stat;
    return (errno == EACCES || errno == EPERM) && proc_stat_read(proc_find_living_thread(pid), &stat) &&
           stat.resident_pages;
}

/* Opens the needed files that are not yet open. */
static void open_files(struct counters *counters, struct process_counters *process, uint32_t pid)
{
    bool needs_stat =
        is_wanted(counters, COUNT_MEMORY) || is_wanted(counters, COUNT_FAULTS) || is_wanted(counters, COUNT_THREADS);
    if (needs_stat && process->stat_fd < 0)
        process->stat_fd = open_proc_file(pid, "stat");
    if (is_wanted(counters, COUNT_IO) && process->io_fd < 0 && !process->is_refused) {
        process->io_fd = open_proc_file(pid, "io");
        process->is_refused = process->io_fd < 0 && is_refusal(pid);
    }
    counters->was_refused |= process->is_refused;
    if (!process->stays_open && counters->open < counters->most_open) {
        process->stays_open = true;
        counters->open++;
    }
}

/* ---- values ---- */

/* Parses /proc/PID/stat. An exited process has no threads and no memory. Returns false if the thread that the file
 * describes has ended. */
static bool parse_stat(const char *text, uint64_t values[COUNTER_KINDS])
{
    struct proc_stat stat;
    if (!proc_stat_parse(text, &stat))
        return true;
    values[COUNTER_MINOR_FAULTS] = stat.minor_faults;
    values[COUNTER_MAJOR_FAULTS] = stat.major_faults;
    if (!proc_stat_has_ended(&stat))
        values[COUNTER_THREADS] = stat.threads;
    if (stat.resident_pages)
        values[COUNTER_MEMORY] = stat.resident_pages * (uint64_t)sysconf(_SC_PAGESIZE);
    return !strchr("ZX", stat.state);
}

/* Parses the line "name: 123" of a text. */
static void parse_line(const char *text, const char *name, uint64_t scale, uint64_t *value)
{
    const char *at = strstr(text, name);
    if (at && (at == text || at[-1] == '\n'))
        *value = scale * strtoull(at + strlen(name), NULL, 10);
}

static void parse_io(const char *text, uint64_t values[COUNTER_KINDS])
{
    parse_line(text, "rchar:", 1, &values[COUNTER_READ]);
    parse_line(text, "wchar:", 1, &values[COUNTER_WRITTEN]);
    parse_line(text, "read_bytes:", 1, &values[COUNTER_DISK_READ]);
    parse_line(text, "write_bytes:", 1, &values[COUNTER_DISK_WRITTEN]);
}

static void read_swap(struct counters *counters, struct process_counters *process, uint32_t pid,
                      uint64_t values[COUNTER_KINDS])
{
    char path[64], text[4096];
    if (!counters->has_swap || !is_wanted(counters, COUNT_MEMORY) || process->until_swap--)
        return;
    process->until_swap = SWAP_READINGS - 1;
    snprintf(path, sizeof(path), "/proc/%" PRIu32 "/status", proc_find_living_thread(pid));
    if (file_read_text(path, text, sizeof(text)))
        parse_line(text, "VmSwap:", 1024, &values[COUNTER_SWAP]);
}

/* Reads the current counters of a process. Values that an exiting process has already lost stay unchanged. Returns
 * false if the process has ended. */
static bool read_values(struct counters *counters, struct process_counters *process, const struct tracked_process *of,
                        uint64_t values[COUNTER_KINDS])
{
    char text[1024];
    uint64_t cpu_time = process_read_clock_ns(of->pid);
    if (!cpu_time)
        return false;
    if (is_wanted(counters, COUNT_CPU))
        values[COUNTER_CPU_TIME] = cpu_time;
    open_files(counters, process, of->pid);
    if (reread_file(process->stat_fd, text, sizeof(text)) && !parse_stat(text, values)) {
        close(process->stat_fd); /* the next reading opens the file of another thread */
        process->stat_fd = -1;
    }
    if (reread_file(process->io_fd, text, sizeof(text))) {
        parse_io(text, values);
    } else if (process->io_fd >= 0 && is_refusal(of->pid)) {
        process->is_refused = counters->was_refused = true;
        close(process->io_fd);
        process->io_fd = -1;
    }
    read_swap(counters, process, of->pid, values);
    if (counters->options.has_switches && is_wanted(counters, COUNT_SWITCHES)) {
        values[COUNTER_WAITS] = of->waits;
        values[COUNTER_PREEMPTIONS] = of->preemptions;
    }
    if (!is_wanted(counters, COUNT_MEMORY))
        values[COUNTER_MEMORY] = COUNTER_UNKNOWN;
    if (!is_wanted(counters, COUNT_FAULTS))
        values[COUNTER_MINOR_FAULTS] = values[COUNTER_MAJOR_FAULTS] = COUNTER_UNKNOWN;
    if (!is_wanted(counters, COUNT_THREADS))
        values[COUNTER_THREADS] = COUNTER_UNKNOWN;
    if (!process->stays_open)
        close_files(counters, process);
    return true;
}

/* ---- readings ---- */

static struct process_counters *get_counters(struct tracked_process *process)
{
    if (process->counters)
        return process->counters;
    struct process_counters *made = process->counters = malloc(sizeof(*made));
    if (!made)
        return NULL;
    *made = (struct process_counters){.stat_fd = -1, .io_fd = -1};
    for (size_t i = 0; i < COUNTER_KINDS; i++)
        made->values[i] = COUNTER_UNKNOWN;
    return made;
}

static int write_values(const struct counters *counters, uint32_t of, uint64_t time, uint64_t since, bool is_base,
                        const uint64_t *values, struct error *err)
{
    const struct spool_counters reading = {
        .of = of, .time_ns = time, .since_ns = since, .is_base = is_base, .values = {values, COUNTER_KINDS}};
    return spool_write_counters(counters->options.spool, &reading, err);
}

/* Whether the process ran while the recording was paused. */
static bool has_run_during_pause(const struct counters *counters, const struct process_counters *process,
                                 const struct tracked_process *of)
{
    return process->has_values && process->looked < counters->resumed && of->runs_since < counters->resumed;
}

/* Writes the base of the values: 0 if the process started during the recording, else the current values. After exec,
 * the base is the last values of the previous program. */
static int write_base(struct counters *counters, struct process_counters *process, const struct tracked_process *of,
                      uint64_t now, const uint64_t *values, struct error *err)
{
    uint64_t base[COUNTER_KINDS];
    bool began = of->started > counters->resumed && !process->begins_anew;
    for (size_t i = 0; i < COUNTER_KINDS; i++) {
        uint64_t before = process->begins_anew ? process->values[i] : values[i];
        bool is_level = counter_is_level((enum counter_kind)i); /* a level has no base */
        base[i] = is_level || values[i] == COUNTER_UNKNOWN ? COUNTER_UNKNOWN
                  : began                                  ? 0
                  : before == COUNTER_UNKNOWN              ? values[i]
                                                           : before;
    }
    uint64_t time = process->begins_anew ? process->began : began ? of->started : now;
    process->begins_anew = false;
    return write_values(counters, of->number, time < now ? time : now, 0, true, base, err);
}

/* Returns the time (ns) until which the process did not run after its last reading, so that its values did not
 * change, or 0 if the process only waited for a CPU. */
static uint64_t find_unchanged_end(const struct counters *counters, const struct process_counters *process,
                                   const struct tracked_process *of)
{
    uint64_t ran = of->runs_since > counters->options.sampling ? of->runs_since - counters->options.sampling : 0;
    uint64_t until = ran > process->looked ? ran : process->looked;
    return until >= process->written + interval ? until : 0;
}

static int read_process(struct counters *counters, struct tracked_process *of, uint64_t now, struct error *err)
{
    struct process_counters *process = get_counters(of);
    uint64_t values[COUNTER_KINDS];
    if (!process)
        return error_no_memory(err);
    memcpy(values, process->values, sizeof(values));
    if (!read_values(counters, process, of, values))
        return 0;
    uint64_t since = process->has_values ? find_unchanged_end(counters, process, of) : 0;
    bool changes = !process->has_values || process->begins_anew || memcmp(values, process->values, sizeof(values)) != 0;
    bool was_paused = has_run_during_pause(counters, process, of);
    int code = 0;
    process->looked = now;
    if (!process->has_values || process->begins_anew)
        code = write_base(counters, process, of, now, values, err);
    if (!code && (changes || was_paused))
        code = write_values(counters, of->number, now, since, was_paused, values, err);
    if (changes || was_paused)
        process->written = now;
    process->has_values = true;
    memcpy(process->values, values, sizeof(values));
    return code;
}

/* ---- times of readings ---- */

void counters_mark_running(struct counters *counters, struct tracked_process *process, uint64_t time, bool by_sample)
{
    if (process->runs_since || (!by_sample && counters->options.only_after_sample && !process->counters))
        return;
    if (counters->options.wanted &&
        array_push(&counters->due, process->pid)) /* if memory runs out, the process has no reading */
        process->runs_since = time;
}

/* New processes often end at once, so the first reading waits for a minimum age. */
static bool is_old_enough(const struct counters *counters, const struct tracked_process *process, uint64_t now)
{
    return process->counters || process->started + interval <= now || process->pid == counters->options.target;
}

/* `is_last`: reads all due processes, without a time limit. */
static int read_due_processes(struct counters *counters, uint64_t now, bool is_last, struct error *err)
{
    uint64_t started = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    size_t i = 0, kept = 0, readings = 0;
    int code = 0;
    for (; i < counters->due.length && !code; i++) {
        uint32_t pid = counters->due.data[i];
        struct tracked_process *process = tracker_find_process(counters->options.tracker, pid);
        if (!process || !process->runs_since)
            continue; /* the process has ended, or its pid belongs to another process */
        if (!is_last && readings >= LEAST_AT_ONCE && clock_ns(CLOCK_THREAD_CPUTIME_ID) - started > most_at_once)
            break;
        if (!is_old_enough(counters, process, now)) {
            counters->due.data[kept++] = pid;
            continue;
        }
        code = read_process(counters, process, now, err);
        process->runs_since = 0;
        readings++;
    }
    size_t left = counters->due.length - i;
    if (left) /* the next call starts with the processes not read by this call */
        memmove(counters->due.data + kept, counters->due.data + i, left * sizeof(*counters->due.data));
    counters->due.length = kept + left;
    return code;
}

/* Makes the readings that are due at `now` (ns). */
static int read_due_counters(void *self, uint64_t now, struct error *err)
{
    struct counters *counters = self;
    if (!counters->options.wanted || now < counters->next)
        return 0;
    uint64_t started = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    int code = read_due_processes(counters, now, false, err);
    if (!code && counters->system)
        code = system_counters_read(counters->system, counters->options.spool, now, system_interval, false, err);
    uint64_t pause = share * (clock_ns(CLOCK_THREAD_CPUTIME_ID) - started);
    counters->next = now + (pause < interval ? interval : pause < longest_interval ? pause : longest_interval);
    return code;
}

void counters_resume(struct counters *counters, uint64_t time)
{
    counters->resumed = time;
    counters->next = 0; /* at once */
    if (counters->system)
        system_counters_resume(counters->system);
}

int counters_finish(struct counters *counters, struct error *err)
{
    if (!counters->options.wanted)
        return 0;
    uint64_t now = monotonic_ns();
    int code = read_due_processes(counters, now, true, err);
    if (!code && counters->system)
        code = system_counters_read(counters->system, counters->options.spool, now, 0, false, err);
    return code;
}

/* ---- for the tracker ---- */

int counters_read_ending_process(struct counters *counters, struct tracked_process *process, struct error *err)
{
    if (!counters->options.wanted || (!process->counters && process->pid != counters->options.target))
        return 0;
    return read_process(counters, process, monotonic_ns(), err);
}

void counters_move_at_exec(struct tracked_process *old, struct tracked_process *process, uint64_t time)
{
    struct process_counters *counters = process->counters = old->counters;
    old->counters = NULL;
    process->started = counters || !old->started ? 0 : old->started;
    process->waits = old->waits;
    process->preemptions = old->preemptions;
    process->runs_since = old->runs_since;
    if (!counters)
        return;
    counters->begins_anew = true;
    counters->began = time;
}

void counters_free_process(struct counters *counters, struct tracked_process *process)
{
    if (!process->counters)
        return;
    close_files(counters, process->counters);
    free(process->counters);
    process->counters = NULL;
}

/* ---- beginning and end ---- */

bool counters_parse(const char *text, uint32_t *wanted)
{
    *wanted = strcmp(text, "all") == 0 ? (uint32_t)COUNT_ALL : 0;
    if (*wanted || strcmp(text, "none") == 0)
        return true;
    for (const char *at = text;; at++) {
        size_t length = strcspn(at, ","), group = 0;
        while (group < COUNTER_GROUPS &&
               (strlen(counter_groups[group]) != length || strncmp(counter_groups[group], at, length) != 0))
            group++;
        if (group == COUNTER_GROUPS)
            return false;
        *wanted |= 1U << group;
        at += length;
        if (!*at)
            return true;
    }
}

int counters_init(struct counters *counters, const struct counters_options *options, struct error *err)
{
    struct rlimit limit = {.rlim_cur = 1024};
    struct sysinfo machine;
    *counters = (struct counters){.options = *options, .next = monotonic_ns()};
    getrlimit(RLIMIT_NOFILE, &limit);
    rlim_t most = limit.rlim_cur / FILES_PART / FILES_OF_PROCESS;
    counters->most_open = most < UINT32_MAX ? (uint32_t)most : UINT32_MAX;
    counters->has_swap = sysinfo(&machine) == 0 && machine.totalswap > 0;
    if (!is_wanted(counters, COUNT_SYSTEM) && !is_wanted(counters, COUNT_POWER))
        return 0;
    return system_counters_new(&counters->system, is_wanted(counters, COUNT_SYSTEM), is_wanted(counters, COUNT_POWER),
                               SYSTEM_COUNTERS_POWER, err);
}

void counters_destroy(struct counters *counters)
{
    system_counters_free(counters->system);
    array_free(&counters->due);
    *counters = (struct counters){0};
}

/* ---- as a producer ---- */

/* Waits until a process runs if no readings are due. */
static uint64_t get_next_deadline(const void *self)
{
    const struct counters *counters = self;
    return counters->due.length ? counters->next : UINT64_MAX;
}

static int finish_counters(void *self, uint64_t stopped, struct error *err)
{
    (void)stopped;
    return counters_finish(self, err);
}

struct producer counters_as_producer(struct counters *counters)
{
    return (struct producer){.self = counters,
                             .has_pauses = true,
                             .deadline = get_next_deadline,
                             .run = read_due_counters,
                             .finish = finish_counters};
}
