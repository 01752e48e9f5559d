/*
 * Opens /tmp directories and jitdump files. A descriptor of /proc/PID/root is not enough: when the last process of a
 * mount namespace ends, the kernel unmounts its file systems, and this root directory no longer leads to its /tmp. So
 * the recorder opens /tmp itself: one descriptor for each /tmp of a container or chroot, and one for each jitdump file.
 * The numbers of directories and of jitdump files have limits, also as a share of the descriptors that prof may open.
 * prof opens files beyond the limits by name after the recording.
 */
#include "process/jit_files.h"

#include "os/file_proc.h"
#include "process/mapped_file.h"

#include <ctype.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

enum { DIRECTORIES_MAX = 64, DUMPS_MAX = 256 };

static bool is_full(size_t count, size_t most)
{
    struct rlimit limit;
    return count >= most || (getrlimit(RLIMIT_NOFILE, &limit) == 0 && count >= limit.rlim_cur / 8);
}

/* Identifies a directory without a request to its file system, because the file system may not respond. */
static bool identify_directory(const char *path, struct jit_directory *directory)
{
    struct statx info;
    if (statx(AT_FDCWD, path, AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT, STATX_INO, &info))
        return false;
    *directory = (struct jit_directory){
        .device = makedev(info.stx_dev_major, info.stx_dev_minor), .inode = info.stx_ino, .fd = -1};
    return true;
}

static bool is_same(const struct jit_directory *a, const struct jit_directory *b)
{
    return a->device == b->device && a->inode == b->inode;
}

/* Opens the /tmp of a process, unless it is prof's own /tmp. */
static uint32_t open_directory(struct jit_files *files, uint32_t pid)
{
    char path[64];
    struct jit_directory own, theirs;
    snprintf(path, sizeof(path), "/proc/%" PRIu32 "/root/tmp", pid);
    if (!identify_directory(path, &theirs) || (identify_directory("/tmp", &own) && is_same(&own, &theirs)))
        return JIT_DIRECTORY_OURS;
    for (size_t i = 0; i < files->directories.length; i++)
        if (is_same(&theirs, &files->directories.data[i]))
            return (uint32_t)i;
    if (is_full(files->directories.length, DIRECTORIES_MAX))
        return JIT_DIRECTORY_OURS;
    theirs.fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (theirs.fd < 0)
        return JIT_DIRECTORY_OURS;
    if (!array_push(&files->directories, theirs)) {
        close(theirs.fd);
        return JIT_DIRECTORY_OURS;
    }
    return (uint32_t)files->directories.length - 1;
}

static struct jit_file *get_jit_file(struct jit_files *files, uint32_t process, uint32_t pid, bool ran_before)
{
    uint32_t index = hash_get(&files->by_process, process);
    if (index != HASH_MISSING)
        return &files->files.data[index];
    uint32_t living = proc_find_living_thread(pid);
    struct jit_file file = {.pid = pid, .directory = JIT_DIRECTORY_OURS, .dump = -1};
    file.started = ran_before ? proc_read_start_time(pid) : 0;
    file.user = proc_find_file_owner(living, JIT_USER_UNKNOWN);
    if (proc_has_other_namespace(living, "pid"))
        file.pid = proc_find_innermost_pid(living);
    file.directory = open_directory(files, living);
    index = (uint32_t)files->files.length;
    if (!array_push(&files->files, file) || !hash_set(&files->by_process, process, index))
        return NULL;
    return &files->files.data[index];
}

bool jit_files_add(struct jit_files *files, uint32_t process, uint32_t pid, bool ran_before)
{
    return get_jit_file(files, process, pid, ran_before) != NULL;
}

bool jit_files_open_jitdump(struct jit_files *files, uint32_t process, uint32_t pid, bool ran_before,
                            const struct perf_mapping *mapping)
{
    struct jit_file *file = get_jit_file(files, process, pid, ran_before);
    struct mapped_file mapped;
    if (!file)
        return false;
    if (file->dump >= 0 || is_full(files->dumps, DUMPS_MAX))
        return true;
    int code = mapped_file_open(&mapped, pid, mapping);
    if (code)
        return code != -ENOMEM;
    file->dump = file_source_open(mapped.file);
    files->dumps += file->dump >= 0;
    mapped_file_destroy(&mapped);
    return true;
}

bool jit_files_is_jitdump(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && jit_files_is_jitdump_name(slash + 1);
}

bool jit_files_is_jitdump_name(const char *name)
{
    if (strncmp(name, "jit-", 4) != 0 || !isdigit((unsigned char)name[4]))
        return false;
    return strcmp(name + 4 + strspn(name + 4, "0123456789"), ".dump") == 0;
}

const struct jit_file *jit_files_find(const struct jit_files *files, uint32_t process)
{
    uint32_t index = hash_get(&files->by_process, process);
    return index == HASH_MISSING ? NULL : &files->files.data[index];
}

void jit_files_destroy(struct jit_files *files)
{
    for (size_t i = 0; i < files->directories.length; i++)
        close(files->directories.data[i].fd);
    for (size_t i = 0; i < files->files.length; i++)
        if (files->files.data[i].dump >= 0)
            close(files->files.data[i].dump);
    array_free(&files->files);
    array_free(&files->directories);
    hash_destroy(&files->by_process);
}
