#include "cmd/record/leftover.h"

#include "cmd/common/ui.h"

#include "os/file_output.h"
#include "spool/spool.h"

#include <dirent.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

/* Returns the pid in the name of a spool file, "BASE.PID.spool", or 0 for any other name. */
static pid_t parse_recorder_pid(const char *name, const char *base)
{
    size_t length = strlen(base);
    char *end;
    if (strncmp(name, base, length) != 0 || name[length] != '.' || name[length + 1] < '1' || name[length + 1] > '9')
        return 0;
    unsigned long pid = strtoul(name + length + 1, &end, 10);
    return strcmp(end, ".spool") == 0 && pid <= INT_MAX ? (pid_t)pid : 0;
}

/* The recorder may run in a container with other process IDs, so a lock decides. */
static bool is_recorder_writing(const char *directory, const char *name)
{
    char path[PATH_MAX];
    return snprintf(path, sizeof(path), "%s/%s", directory, name) < PATH_MAX && spool_is_being_written(path);
}

void print_leftover(const char *base)
{
    const char *slash = strrchr(base, '/');
    int directory_length = slash ? (int)(slash - base) + 1 : 0;
    char directory[PATH_MAX], found[NAME_MAX + 1] = "";
    snprintf(directory, sizeof(directory), "%.*s", directory_length ? directory_length : 2,
             directory_length ? base : "./");
    DIR *names = opendir(directory);
    for (const struct dirent *entry; names && !found[0] && (entry = readdir(names));) {
        struct stat info;
        pid_t pid = parse_recorder_pid(entry->d_name, base + directory_length);
        if (pid && kill(pid, 0) && errno == ESRCH && !fstatat(dirfd(names), entry->d_name, &info, 0) &&
            (info.st_uid == geteuid() || info.st_uid == file_find_sudo_user()) &&
            !is_recorder_writing(directory, entry->d_name))
            snprintf(found, sizeof(found), "%s", entry->d_name);
    }
    if (names)
        closedir(names);
    if (found[0])
        ui_print_message(
            "%.*s%s is an unsaved recording; show the recording with 'prof load %.*s%s', or remove the file",
            directory_length, base, found, directory_length, base, found);
}
