#include "sample/tracefs.h"

#include "os/file_io.h"

#include <dirent.h>
#include <unistd.h>

static const char *const directories[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};

void tracefs_format_command(char text[TRACEFS_COMMAND], bool is_mounted)
{
    snprintf(text, TRACEFS_COMMAND,
             is_mounted ? "mount -o remount,mode=750,gid=%u /sys/kernel/tracing"
                        : "mount -t tracefs -o mode=750,gid=%u tracefs /sys/kernel/tracing",
             (unsigned)getegid());
}

int tracefs_find(const char **directory, struct error *err)
{
    bool is_closed = false;
    char command[TRACEFS_COMMAND];
    for (size_t i = 0; i < sizeof(directories) / sizeof(*directories); i++) {
        char path[96];
        snprintf(path, sizeof(path), "%s/events", directories[i]);
        *directory = directories[i];
        if (access(path, R_OK | X_OK) == 0)
            return 0;
        /* only root may enter the directory of debugfs, even if it contains tracefs */
        is_closed |= errno == EACCES && i == 0;
    }
    tracefs_format_command(command, is_closed);
    return is_closed
               ? error_set(err, EACCES, "this user may not read the kernel's tracepoints; 'sudo %s' allows it", command)
               : error_set(
                     err, ENOENT,
                     "the kernel's tracepoints are missing, because tracefs is not mounted; 'sudo %s' mounts it, if the kernel has them",
                     command);
}

static bool is_valid_name(const char *text)
{
    return *text && *text != '.' && !strchr(text, '/') && strlen(text) < 128;
}

int tracefs_read_event_id(const char *system, const char *name, uint64_t *id, struct error *err)
{
    const char *directory;
    char path[512], text[32];
    int code = tracefs_find(&directory, err);
    if (code)
        return code;
    if (!is_valid_name(system) || !is_valid_name(name))
        return error_set(err, EINVAL, "unknown tracepoint '%.128s:%.128s'", system, name);
    snprintf(path, sizeof(path), "%s/events/%s/%s/id", directory, system, name);
    if (!file_read_text(path, text, sizeof(text))) {
        char command[TRACEFS_COMMAND];
        tracefs_format_command(command, true);
        return access(path, F_OK) == 0
                   ? error_set(err, EACCES, "this user may not read %s; 'sudo %s' permits it", path, command)
                   : error_set(err, EINVAL, "unknown tracepoint '%s:%s'", system, name);
    }
    *id = strtoull(text, NULL, 10);
    return 0;
}

int tracefs_read_format(const char *system, const char *name, uint64_t *id, char format[TRACEFS_FORMAT],
                        struct error *err)
{
    const char *directory;
    char path[128];
    int code = tracefs_read_event_id(system, name, id, err);
    if (code)
        return code;
    tracefs_find(&directory, err);
    snprintf(path, sizeof(path), "%s/events/%s/%s/format", directory, system, name);
    file_read_text(path, format, TRACEFS_FORMAT);
    return 0;
}

static bool list_system(const char *directory, const char *system,
                        bool (*see)(void *context, const char *system, const char *name), void *context)
{
    char path[768];
    snprintf(path, sizeof(path), "%s/events/%s", directory, system);
    DIR *names = opendir(path);
    bool goes_on = true;
    for (const struct dirent *entry; names && goes_on && (entry = readdir(names));) {
        char id[1100];
        if (!is_valid_name(entry->d_name))
            continue;
        snprintf(id, sizeof(id), "%s/%s/id", path, entry->d_name); /* ftrace's own events have no readable id */
        if (access(id, F_OK) == 0)
            goes_on = see(context, system, entry->d_name);
    }
    if (names)
        closedir(names);
    return goes_on;
}

int tracefs_list(bool (*see)(void *context, const char *system, const char *name), void *context, struct error *err)
{
    const char *directory;
    char path[128];
    int code = tracefs_find(&directory, err);
    if (code)
        return code;
    snprintf(path, sizeof(path), "%s/events", directory);
    DIR *systems = opendir(path);
    bool goes_on = true;
    for (const struct dirent *entry; systems && goes_on && (entry = readdir(systems));)
        if (is_valid_name(entry->d_name) && strcmp(entry->d_name, "ftrace") != 0)
            goes_on = list_system(directory, entry->d_name, see, context);
    if (systems)
        closedir(systems);
    return 0;
}

bool tracefs_find_field(const char *format, const char *field, size_t *offset)
{
    static const char key[] = "offset:";
    const char *at = strstr(format, field), *line_end = at ? strchr(at, '\n') : NULL;
    const char *number = at ? strstr(at, key) : NULL;
    if (!number || (line_end && number > line_end))
        return false;
    *offset = strtoul(number + strlen(key), NULL, 10);
    return true;
}
