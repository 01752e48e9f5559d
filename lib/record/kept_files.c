#include "record/kept_files.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* The namespace differs where a process has the same root folder as we, but other file systems mounted below it. */
static bool identify_root(const char *process, int root_fd, struct kept_root *root)
{
    char path[64];
    struct stat namespace, folder;
    snprintf(path, sizeof(path), "/proc/%s/ns/mnt", process);
    if (stat(path, &namespace) != 0 || fstat(root_fd, &folder) != 0)
        return false;
    *root = (struct kept_root){
        .namespace = namespace.st_ino, .device = folder.st_dev, .inode = folder.st_ino, .fd = root_fd};
    return true;
}

static bool is_same(const struct kept_root *a, const struct kept_root *b)
{
    return a->namespace == b->namespace && a->device == b->device && a->inode == b->inode;
}

static int open_root(const char *process, struct kept_root *root)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%s/root", process);
    int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0 && identify_root(process, fd, root))
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

/* A quarter of the descriptors is left to those who read symbols. */
static bool is_too_many(int fd)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_NOFILE, &limit) == 0 && (rlim_t)fd >= limit.rlim_cur / 4 * 3;
}

static bool is_ours(const struct kept_root *root)
{
    struct kept_root ours;
    int fd = open_root("self", &ours);
    if (fd >= 0)
        close(fd);
    return fd >= 0 && is_same(root, &ours);
}

int kept_files_root(struct kept_files *kept, uint32_t pid)
{
    char process[16];
    struct kept_root root;
    snprintf(process, sizeof(process), "%" PRIu32, pid);
    int fd = open_root(process, &root);
    if (fd < 0)
        return -1;
    for (size_t i = 0; i < kept->roots.length; i++)
        if (is_same(&kept->roots.data[i], &root)) {
            close(fd);
            return kept->roots.data[i].fd;
        }
    if (!is_ours(&root) && !is_too_many(fd) && array_push(&kept->roots, root))
        return fd;
    close(fd);
    return -1;
}

bool kept_files_add(struct kept_files *kept, uint32_t number, int fd, int root_fd)
{
    bool ok = true;
    while (ok && kept->files.length <= number)
        ok = array_push(&kept->files, (struct kept_file){.fd = -1, .root_fd = -1});
    bool keep = ok && !is_too_many(fd);
    if (ok)
        kept->files.data[number] = (struct kept_file){.fd = keep ? fd : -1, .root_fd = root_fd};
    if (!keep)
        close(fd);
    return ok;
}

struct kept_file kept_files_get(const struct kept_files *kept, uint32_t number)
{
    return number < kept->files.length ? kept->files.data[number] : (struct kept_file){.fd = -1, .root_fd = -1};
}

void kept_files_destroy(struct kept_files *kept)
{
    for (size_t i = 0; i < kept->files.length; i++)
        if (kept->files.data[i].fd >= 0)
            close(kept->files.data[i].fd);
    for (size_t i = 0; i < kept->roots.length; i++)
        close(kept->roots.data[i].fd);
    array_free(&kept->files);
    array_free(&kept->roots);
    code_places_destroy(&kept->code);
}
