#include "process/open_files.h"

#include "os/file_proc.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- the limit of open files ---- */

/* Leaves a quarter of the descriptors to the symbolizer. */
static bool has_too_many_descriptors(int fd)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_NOFILE, &limit) == 0 && (rlim_t)fd >= limit.rlim_cur / 4 * 3;
}

/* Returns the mount of a path, or false if the kernel does not report mounts (before Linux 5.8). */
static bool find_mount(int directory, const char *path, uint64_t *mount)
{
    struct statx info;
    bool known =
        statx(directory, path, *path ? 0 : AT_EMPTY_PATH, STATX_MNT_ID, &info) == 0 && (info.stx_mask & STATX_MNT_ID);
    *mount = known ? info.stx_mnt_id : 0;
    return known;
}

/* Whether the file is in a mount that prof uses anyway. */
static bool is_in_our_mounts(const struct open_files *files, int fd)
{
    uint64_t mount;
    return find_mount(fd, "", &mount) && (mount == files->root_mount || mount == files->working_mount);
}

static bool may_stay_open(const struct open_files *files, int fd, bool can_reopen)
{
    return !has_too_many_descriptors(fd) && (!can_reopen || is_in_our_mounts(files, fd));
}

/* ---- root directories ---- */

/* Identifies a root directory, including its mount namespace: a process with prof's root directory may have other
 * mounts below it. */
static bool identify_root(const char *process, int root_fd, struct open_root *root)
{
    struct stat directory;
    uint64_t namespace = proc_read_namespace(process, "mnt");
    if (!namespace || fstat(root_fd, &directory) != 0)
        return false;
    *root = (struct open_root){
        .namespace = namespace, .device = directory.st_dev, .inode = directory.st_ino, .fd = root_fd};
    return true;
}

static bool is_same(const struct open_root *a, const struct open_root *b)
{
    return a->namespace == b->namespace && a->device == b->device && a->inode == b->inode;
}

static bool open_root(const char *process, struct open_root *root)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%s/root", process);
    int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0 && identify_root(process, fd, root))
        return true;
    if (fd >= 0)
        close(fd);
    return false;
}

static void close_root(struct open_root *root)
{
    if (root->fd >= 0)
        close(root->fd);
    root->fd = -1;
}

/* If a path in prof's mount namespace leads to the root directory, stores the path and closes the directory. A process
 * in a chroot has another path for the directory. */
static void close_unneeded_root(const struct open_files *files, const char *process, struct open_root *root)
{
    char link[64], path[PATH_MAX];
    if (root->namespace != files->ours.namespace || may_stay_open(files, root->fd, true))
        return;
    snprintf(link, sizeof(link), "/proc/%s/root", process);
    ssize_t length = readlink(link, path, sizeof(path) - 1);
    path[length > 0 ? length : 0] = '\0';
    root->path = strdup(path);
    if (root->path)
        close_root(root);
}

void open_files_init(struct open_files *files)
{
    *files = (struct open_files){.ours.fd = -1};
    if (open_root("self", &files->ours))
        close_root(&files->ours);
    find_mount(AT_FDCWD, "/", &files->root_mount);
    find_mount(AT_FDCWD, ".", &files->working_mount);
}

int open_files_add_root(struct open_files *files, uint32_t pid)
{
    char process[16];
    struct open_root root;
    snprintf(process, sizeof(process), "%" PRIu32, proc_find_living_thread(pid));
    if (!open_root(process, &root))
        return -1;
    for (size_t i = 0; i < files->roots.length; i++)
        if (is_same(&files->roots.data[i], &root)) {
            close_root(&root);
            return (int)i;
        }
    if (!is_same(&root, &files->ours) && !has_too_many_descriptors(root.fd)) {
        close_unneeded_root(files, process, &root);
        if (array_push(&files->roots, root))
            return (int)files->roots.length - 1;
        free(root.path);
    }
    close_root(&root);
    return -1;
}

void open_files_reopen_roots(struct open_files *files)
{
    for (size_t i = 0; i < files->roots.length; i++) {
        struct open_root *root = &files->roots.data[i], now;
        int fd = root->fd < 0 ? open(root->path, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
        if (fd < 0)
            continue;
        root->fd = fd;
        if (!identify_root("self", fd, &now) || !is_same(&now, root))
            close_root(root);
    }
}

/* ---- files ---- */

/* Closes a file without a path. If the root directory of its process does not lead to the file later, its symbols are
 * lost. */
static void close_beyond_limit(struct open_files *files, const struct open_file *open)
{
    file_source_close(open->file);
    if (open->root >= 0)
        open->file->root_fd = files->roots.data[open->root].fd;
    int fd = file_source_open(open->file);
    if (fd >= 0)
        close(fd);
    else
        files->lost++;
}

static bool add_missing_rows(struct open_files *files, uint32_t number)
{
    while (files->files.length <= number)
        if (!array_push(&files->files, (struct open_file){.root = -1}))
            return false;
    return true;
}

void open_files_set_silent(struct open_files *files, uint32_t number)
{
    if (add_missing_rows(files, number))
        files->files.data[number].is_silent = true;
}

bool open_files_is_silent(const struct open_files *files, uint32_t number)
{
    return number < files->files.length && files->files.data[number].is_silent;
}

bool open_files_add(struct open_files *files, uint32_t number, const struct mapped_file *mapped, uint32_t pid)
{
    if (!add_missing_rows(files, number))
        return false;
    struct open_file *open = &files->files.data[number];
    *open = (struct open_file){.file = file_source_ref(mapped->file), .root = open_files_add_root(files, pid)};
    if (may_stay_open(files, mapped->file->fd, mapped->can_reopen))
        return true;
    if (has_too_many_descriptors(mapped->file->fd))
        unwind_module_load(mapped->module); /* keep the file open: the target may delete it before the first walk */
    if (mapped->can_reopen)
        file_source_close(mapped->file);
    else
        close_beyond_limit(files, open);
    return true;
}

struct file_source *open_files_get(const struct open_files *files, uint32_t number)
{
    return number < files->files.length ? files->files.data[number].file : NULL;
}

int open_files_get_root_fd(const struct open_files *files, uint32_t number)
{
    int root = number < files->files.length ? files->files.data[number].root : -1;
    return root < 0 ? -1 : files->roots.data[root].fd;
}

void open_files_drop_root(struct open_files *files, uint32_t number)
{
    if (number < files->files.length)
        files->files.data[number].root = -1;
}

void open_files_destroy(struct open_files *files)
{
    for (size_t i = 0; i < files->files.length; i++)
        file_source_unref(files->files.data[i].file);
    for (size_t i = 0; i < files->roots.length; i++) {
        close_root(&files->roots.data[i]);
        free(files->roots.data[i].path);
    }
    array_free(&files->files);
    array_free(&files->roots);
    jit_files_destroy(&files->jit);
}
