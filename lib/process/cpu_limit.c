#include "process/cpu_limit.h"

#include "os/file_io.h"
#include "process/cgroup.h"

enum { TEXT_SIZE = 4096 };

/* Whether the list "cpu,cpuacct" has "cpu". */
static bool lists_cpu_controller(const char *controllers, size_t length)
{
    for (size_t i = 0; i < length; i += strcspn(controllers + i, ",:") + 1)
        if (strcspn(controllers + i, ",:") == strlen("cpu") && strncmp(controllers + i, "cpu", strlen("cpu")) == 0)
            return true;
    return false;
}

/* Finds a line "4:cpu,cpuacct:/path", or of version 2 "0::/path", in the text of /proc/PID/cgroup. */
static bool find_path(const char *text, bool is_first_version, char *path, size_t size)
{
    for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        const char *controllers = strchr(line, ':'), *end = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!end)
            return false;
        size_t length = (size_t)(end - controllers - 1);
        if (is_first_version ? !lists_cpu_controller(controllers + 1, length) : length != 0)
            continue;
        snprintf(path, size, "%.*s", (int)strcspn(end + 1, "\n"), end + 1);
        return true;
    }
    return false;
}

/* Removes the last name of a path below a directory of `least` bytes. False at that directory. */
static bool remove_last_name(char *path, size_t least)
{
    char *slash = strrchr(path, '/');
    if (!slash || (size_t)(slash - path) < least)
        return false;
    *slash = '\0';
    return true;
}

static uint64_t find_count(const char *text, const char *name)
{
    const char *at = strstr(text, name);
    return at ? strtoull(at + strlen(name), NULL, 10) : 0;
}

static struct cpu_limit_counts read_counts(const char *directory)
{
    char path[CPU_LIMIT_PATH + 16], text[TEXT_SIZE];
    snprintf(path, sizeof(path), "%s/cpu.stat", directory);
    if (!file_read_text(path, text, sizeof(text)))
        return (struct cpu_limit_counts){0};
    return (struct cpu_limit_counts){find_count(text, "nr_periods "), find_count(text, "nr_throttled ")};
}

void cpu_limit_read_start(struct cpu_limit *limit, pid_t pid)
{
    char file[64], text[TEXT_SIZE], mount[CPU_LIMIT_PATH / 2], group[CPU_LIMIT_PATH / 2 - 1];
    *limit = (struct cpu_limit){0};
    snprintf(file, sizeof(file), "/proc/%jd/cgroup", (intmax_t)pid);
    if (!file_read_text(file, text, sizeof(text)))
        return;
    bool is_first_version = find_path(text, true, group, sizeof(group));
    if ((!is_first_version && !find_path(text, false, group, sizeof(group))) ||
        !cgroup_find_mount(is_first_version ? "cpu" : NULL, mount, sizeof(mount)))
        return;
    snprintf(limit->path, sizeof(limit->path), "%s%s", mount, strcmp(group, "/") == 0 ? "" : group);
    char path[CPU_LIMIT_PATH];
    snprintf(path, sizeof(path), "%s", limit->path);
    do
        limit->start[limit->level_count++] = read_counts(path);
    while (limit->level_count < CPU_LIMIT_LEVELS && remove_last_name(path, strlen(mount)));
}

struct cpu_limit_counts cpu_limit_read_change(const struct cpu_limit *limit)
{
    struct cpu_limit_counts most = {0};
    char path[CPU_LIMIT_PATH];
    snprintf(path, sizeof(path), "%s", limit->path);
    for (size_t i = 0; i < limit->level_count && path[0]; i++) {
        const struct cpu_limit_counts now = read_counts(path), start = limit->start[i];
        if (now.throttled > start.throttled + most.throttled && now.periods > start.periods)
            most = (struct cpu_limit_counts){now.periods - start.periods, now.throttled - start.throttled};
        remove_last_name(path, 0);
    }
    return most;
}
