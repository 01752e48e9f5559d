#include "record/open_files.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* The namespace differs where a process has the same root folder as we, but other file systems mounted below it. */
static bool identify_root(const char *process, int root_fd, struct open_root *root)
{
    char path[64];
    struct stat namespace, folder;
    snprintf(path, sizeof(path), "/proc/%s/ns/mnt", process);
    if (stat(path, &namespace) != 0 || fstat(root_fd, &folder) != 0)
        return false;
    *root = (struct open_root){
        .namespace = namespace.st_ino, .device = folder.st_dev, .inode = folder.st_ino, .fd = root_fd};
    return true;
}

static bool is_same(const struct open_root *a, const struct open_root *b)
{
    return a->namespace == b->namespace && a->device == b->device && a->inode == b->inode;
}

static int open_root(const char *process, struct open_root *root)
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

static bool is_ours(const struct open_root *root)
{
    struct open_root ours;
    int fd = open_root("self", &ours);
    if (fd >= 0)
        close(fd);
    return fd >= 0 && is_same(root, &ours);
}

int open_files_root(struct open_files *files, uint32_t pid)
{
    char process[16];
    struct open_root root;
    snprintf(process, sizeof(process), "%" PRIu32, pid);
    int fd = open_root(process, &root);
    if (fd < 0)
        return -1;
    for (size_t i = 0; i < files->roots.length; i++)
        if (is_same(&files->roots.data[i], &root)) {
            close(fd);
            return files->roots.data[i].fd;
        }
    if (!is_ours(&root) && !is_too_many(fd) && array_push(&files->roots, root))
        return fd;
    close(fd);
    return -1;
}

bool open_files_add(struct open_files *files, uint32_t number, int fd, int root_fd)
{
    bool ok = true;
    while (ok && files->files.length <= number)
        ok = array_push(&files->files, (struct open_file){.fd = -1, .root_fd = -1});
    bool keep = ok && !is_too_many(fd);
    if (ok)
        files->files.data[number] = (struct open_file){.fd = keep ? fd : -1, .root_fd = root_fd};
    if (!keep)
        close(fd);
    return ok;
}

struct open_file open_files_get(const struct open_files *files, uint32_t number)
{
    return number < files->files.length ? files->files.data[number] : (struct open_file){.fd = -1, .root_fd = -1};
}

void open_files_destroy(struct open_files *files)
{
    for (size_t i = 0; i < files->files.length; i++)
        if (files->files.data[i].fd >= 0)
            close(files->files.data[i].fd);
    for (size_t i = 0; i < files->roots.length; i++)
        close(files->roots.data[i].fd);
    array_free(&files->files);
    array_free(&files->roots);
    jit_files_destroy(&files->jit);
}
