/*
 * Perf events use the cgroups of one hierarchy: the version 1 hierarchy with the controller "perf_event", if it is
 * mounted, else version 2, where the controller is always enabled.
 */
#include "process/cgroup.h"

#include <fcntl.h>
#include <mntent.h>

bool cgroup_find_mount(const char *controller, char *directory, size_t size)
{
    FILE *mounts = setmntent("/proc/self/mounts", "re");
    struct mntent entry;
    char text[4096];
    bool found = false;
    while (mounts && !found && getmntent_r(mounts, &entry, text, sizeof(text))) {
        found = controller ? !strcmp(entry.mnt_type, "cgroup") && hasmntopt(&entry, controller)
                           : !strcmp(entry.mnt_type, "cgroup2");
        if (found)
            snprintf(directory, size, "%s", entry.mnt_dir);
    }
    if (mounts)
        endmntent(mounts);
    return found;
}

int cgroup_open(const char *name, struct error *err)
{
    char directory[PATH_MAX], path[2 * PATH_MAX];
    if (!cgroup_find_mount("perf_event", directory, sizeof(directory)) &&
        !cgroup_find_mount(NULL, directory, sizeof(directory)))
        return error_set(
            err, ENODEV,
            "cannot record cgroups: no cgroup2 file system is mounted ('mount -t cgroup2 none /sys/fs/cgroup' mounts it)");
    size_t length = strlen(directory);
    bool is_path = strncmp(name, directory, length) == 0 && (!name[length] || name[length] == '/');
    snprintf(path, sizeof(path), "%s%s%s", is_path ? "" : directory, is_path || name[0] == '/' ? "" : "/", name);
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0)
        return fd;
    return errno == ENOENT || errno == ENOTDIR
               ? error_set(err, ENOENT, "the cgroup %s does not exist (no directory %s)", name, path)
               : error_set(err, errno, "cannot open the cgroup %s: %s", path, strerror(errno));
}
