#include "os/file_proc.h"

#include "os/clock.h"
#include "os/file_io.h"

#include <dirent.h>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

long proc_read_kernel_setting(const char *name, long if_unknown)
{
    char path[128], text[32];
    snprintf(path, sizeof(path), "/proc/sys/kernel/%s", name);
    return file_read_text(path, text, sizeof(text)) ? strtol(text, NULL, 10) : if_unknown;
}

uint64_t proc_read_namespace(const char *process, const char *kind)
{
    char path[64];
    struct stat info;
    snprintf(path, sizeof(path), "/proc/%s/ns/%s", process, kind);
    return stat(path, &info) == 0 ? (uint64_t)info.st_ino : 0;
}

static uint64_t read_namespace_of_pid(uint32_t pid, const char *kind)
{
    char process[16];
    snprintf(process, sizeof(process), "%" PRIu32, pid);
    return proc_read_namespace(process, kind);
}

bool proc_shares_namespace(uint32_t pid, const char *kind)
{
    uint64_t theirs = read_namespace_of_pid(pid, kind);
    return theirs && theirs == proc_read_namespace("self", kind);
}

bool proc_has_other_namespace(uint32_t pid, const char *kind)
{
    uint64_t theirs = read_namespace_of_pid(pid, kind);
    return theirs && theirs != proc_read_namespace("self", kind);
}

/* Parses "tid (name) state ppid ..." (proc(5)), whose fields count from 1. The name may have spaces and parentheses. */
bool proc_stat_parse(const char *text, struct proc_stat *stat)
{
    enum {
        STATE = 3,
        PARENT = 4,
        MINOR_FAULTS = 10,
        MAJOR_FAULTS = 12,
        THREADS = 20,
        START = 22,
        RESIDENT = 24,
        PROCESSOR = 39,
        POLICY = 41
    };
    const char *at = strrchr(text, ')');
    if (!at || at[1] != ' ' || !at[2])
        return false;
    at += 2;
    *stat = (struct proc_stat){.state = *at};
    for (int field = STATE + 1; field <= POLICY; field++) {
        at = strchr(at, ' ');
        if (!at)
            return false;
        at++;
        if (field == PARENT)
            stat->parent = (uint32_t)strtoul(at, NULL, 10);
        else if (field == MINOR_FAULTS)
            stat->minor_faults = strtoull(at, NULL, 10);
        else if (field == MAJOR_FAULTS)
            stat->major_faults = strtoull(at, NULL, 10);
        else if (field == THREADS)
            stat->threads = strtoull(at, NULL, 10);
        else if (field == START)
            stat->start_ticks = strtoull(at, NULL, 10);
        else if (field == RESIDENT)
            stat->resident_pages = strtoull(at, NULL, 10);
        else if (field == PROCESSOR)
            stat->cpu = (uint32_t)strtoul(at, NULL, 10);
    }
    unsigned long policy = strtoul(at, NULL, 10);
    stat->is_realtime = policy == SCHED_FIFO || policy == SCHED_RR || policy == SCHED_DEADLINE;
    return true;
}

bool proc_stat_has_ended(const struct proc_stat *stat)
{
    return (stat->state == 'Z' && stat->threads < 2) || stat->state == 'X';
}

bool proc_stat_read(uint32_t tid, struct proc_stat *stat)
{
    char path[64], text[1024];
    snprintf(path, sizeof(path), "/proc/%" PRIu32 "/stat", tid);
    return file_read_text(path, text, sizeof(text)) && proc_stat_parse(text, stat);
}

bool proc_is_running(uint32_t pid)
{
    struct proc_stat stat;
    return proc_stat_read(pid, &stat) && !proc_stat_has_ended(&stat);
}

char proc_read_state(uint32_t tid)
{
    struct proc_stat stat;
    return proc_stat_read(tid, &stat) ? stat.state : 0;
}

static bool is_zombie(uint32_t tid)
{
    return strchr("ZX", proc_read_state(tid)); /* also 0 */
}

uint32_t proc_find_living_thread(uint32_t pid)
{
    enum { MOST_READ = 64 }; /* ending threads soon disappear, unless a debugger stops them */
    char path[64];
    uint32_t living = pid;
    snprintf(path, sizeof(path), "/proc/%" PRIu32 "/task", pid);
    DIR *tasks = is_zombie(pid) ? opendir(path) : NULL;
    for (int i = 0; tasks && living == pid && i < MOST_READ; i++) {
        const struct dirent *entry = readdir(tasks);
        uint32_t tid = entry ? (uint32_t)strtoul(entry->d_name, NULL, 10) : 0;
        if (!entry)
            break;
        if (tid && tid != pid && !is_zombie(tid))
            living = tid;
    }
    if (tasks)
        closedir(tasks);
    return living;
}

uint64_t proc_read_start_time(uint32_t pid)
{
    struct proc_stat stat;
    long ticks = sysconf(_SC_CLK_TCK);
    if (ticks <= 0 || !proc_stat_read(pid, &stat))
        return 0;
    uint64_t rate = (uint64_t)ticks;
    uint64_t started = stat.start_ticks / rate * SECOND + stat.start_ticks % rate * SECOND / rate;
    uint64_t since_boot = clock_ns(CLOCK_BOOTTIME), now = clock_ns(CLOCK_REALTIME);
    return started <= since_boot && since_boot - started <= now ? now - (since_boot - started) : 0;
}

/* The lines are "KEY:\tNUMBER\tNUMBER ...". */
uint32_t proc_read_status_number(uint32_t pid, const char *key, uint32_t otherwise)
{
    char path[64] = "/proc/self/status", line[256];
    if (pid)
        snprintf(path, sizeof(path), "/proc/%" PRIu32 "/status", pid);
    FILE *status = fopen(path, "re");
    while (status && fgets(line, sizeof(line), status)) {
        const char *last = strncmp(line, key, strlen(key)) == 0 ? strrchr(line, '\t') : NULL;
        char *end = NULL;
        unsigned long number = last ? strtoul(last + 1, &end, 10) : 0;
        if (last && end != last + 1 && number <= UINT32_MAX)
            otherwise = (uint32_t)number;
    }
    if (status)
        fclose(status);
    return otherwise;
}

uint32_t proc_find_innermost_pid(uint32_t pid)
{
    uint32_t inner = proc_read_status_number(pid, "NSpid:", pid);
    return inner ? inner : pid;
}

uint32_t proc_find_file_owner(uint32_t pid, uint32_t otherwise)
{
    return proc_read_status_number(pid, "Uid:", otherwise);
}

bool proc_is_in_pid_namespace(void)
{
    enum { OUTERMOST_INODE = 0xEFFFFFFC }; /* PROC_PID_INIT_INO of the kernel */
    uint64_t own = proc_read_namespace("self", "pid");
    return own && own != (uint32_t)OUTERMOST_INODE;
}

bool proc_is_in_container(void)
{
    char text[4096];
    return access("/.dockerenv", F_OK) == 0 || access("/run/.containerenv", F_OK) == 0 || getenv("container") ||
           (file_read_text("/proc/1/cgroup", text, sizeof(text)) &&
            (strstr(text, "docker") || strstr(text, "kubepods") || strstr(text, "lxc")));
}

bool proc_has_seccomp_filter(void)
{
    enum { FILTER = 2 }; /* SECCOMP_MODE_FILTER */
    return proc_read_status_number(0, "Seccomp:", 0) == FILTER;
}
