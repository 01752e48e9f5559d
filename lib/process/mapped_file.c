/*
 * The paths to a file, in the order of attempts:
 *
 * - its path in prof's namespace: prof can reopen such a file, so it need not stay open;
 * - its path in the process's namespace, below /proc/PID/root;
 * - the mapping itself, /proc/PID/map_files (for root only), which reaches deleted files;
 * - the program, /proc/PID/exe, which reaches a deleted program;
 * - the open files, /proc/PID/fd, which reach files without a path, such as a loader's memfd_create().
 *
 * A mapping record has the device and number of the kernel's inode. Some file systems, such as overlayfs and btrfs,
 * report other numbers in stat(). On these file systems the recorder maps the candidate briefly, because the kernel
 * code that wrote the numbers of the record then writes the candidate's numbers to /proc/self/maps.
 */
#include "process/mapped_file.h"

#include "os/file_io.h"
#include "os/file_proc.h"
#include "process/proc_maps.h"

#include <dirent.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

enum { PATH_ROOM = 4096 + 64 };

/* ---- identity ---- */

/* The kernel may reuse an inode number for a new file after the process has closed the old one; the generation then
 * differs. prof trusts file systems without generations. */
static bool has_generation(int fd, uint64_t generation)
{
    long now = 0; /* the kernel writes an int here, despite the name of the request */
    return !generation || ioctl(fd, FS_IOC_GETVERSION, &now) || (uint32_t)now == (uint32_t)generation;
}

struct own_mapping {
    uint64_t start;
    const struct perf_mapping *wanted;
    bool has_inode;
};

static int compare_own_mapping(void *context, const struct perf_mapping *mapping)
{
    struct own_mapping *own = context;
    if (mapping->start != own->start)
        return 0;
    own->has_inode = mapping->inode == own->wanted->inode && mapping->device_major == own->wanted->device_major &&
                     mapping->device_minor == own->wanted->device_minor;
    return 1;
}

static bool has_inode_when_mapped(int fd, const struct perf_mapping *mapping)
{
    void *page = mmap(NULL, 1, PROT_READ, MAP_PRIVATE, fd, 0);
    struct own_mapping own = {.start = (uint64_t)(uintptr_t)page, .wanted = mapping};
    if (page == MAP_FAILED)
        return false;
    proc_maps_read((uint32_t)getpid(), compare_own_mapping, &own);
    munmap(page, 1);
    return own.has_inode;
}

/* Returns whether the open file has the device and inode of the mapping. */
static bool has_inode(int fd, const struct perf_mapping *mapping)
{
    struct stat info;
    if (fstat(fd, &info) || !S_ISREG(info.st_mode))
        return false;
    if (info.st_ino == mapping->inode && major(info.st_dev) == mapping->device_major &&
        minor(info.st_dev) == mapping->device_minor)
        return has_generation(fd, mapping->generation);
    return has_inode_when_mapped(fd, mapping);
}

static bool is_mapped_file(const struct mapped_file *candidate, const struct perf_mapping *mapping)
{
    if (mapping->has_build_id)
        return candidate->build_id_size >= mapping->build_id_size &&
               !memcmp(candidate->build_id, mapping->build_id, mapping->build_id_size);
    return has_inode(candidate->file->fd, mapping);
}

/* ---- paths ---- */

/* Opens the file at `path`, which the process has as `name`. Returns -ENOENT if it is not the mapped file. */
static int open_if_mapped(struct mapped_file *mapped, const char *path, const char *name,
                          const struct perf_mapping *mapping)
{
    int fd = file_open_in(-1, path);
    if (fd < 0)
        return fd == -ENOMEM ? fd : -ENOENT;
    int code = file_source_new(&mapped->file, fd, -1, name, NULL);
    if (!code)
        code = unwind_module_open_file(&mapped->module, mapped->file, NULL);
    if (mapped->module)
        mapped->build_id_size = unwind_module_copy_build_id(mapped->module, mapped->build_id);
    if (code != -ENOMEM && mapped->file && is_mapped_file(mapped, mapping))
        return 0; /* perhaps no ELF file */
    mapped_file_destroy(mapped);
    return code == -ENOMEM ? code : -ENOENT;
}

/* Finds the path of the process's root directory. Returns false if it is prof's own root, or lies in another mount
 * namespace, where its path is invalid for prof. */
static bool find_root(uint32_t pid, char root[PATH_ROOM])
{
    char path[64];
    if (!proc_shares_namespace(pid, "mnt"))
        return false;
    snprintf(path, sizeof(path), "/proc/%" PRIu32 "/root", pid);
    ssize_t length = readlink(path, root, PATH_ROOM - 1);
    root[length > 0 ? length : 0] = '\0';
    return length > 1;
}

static int open_in_its_root(struct mapped_file *mapped, uint32_t pid, const struct perf_mapping *mapping)
{
    char path[2 * PATH_ROOM], root[PATH_ROOM];
    if (find_root(pid, root)) {
        snprintf(path, sizeof(path), "%s%s", root, mapping->path);
        int code = open_if_mapped(mapped, path, path, mapping);
        mapped->can_reopen = code == 0;
        if (code != -ENOENT)
            return code;
    }
    snprintf(path, sizeof(path), "/proc/%" PRIu32 "/root%s", pid, mapping->path);
    return open_if_mapped(mapped, path, mapping->path, mapping);
}

/* Opens only descriptors with the same file name: other descriptors may be pipes, devices, or files on a server that
 * does not respond. */
static int open_by_descriptor(struct mapped_file *mapped, uint32_t pid, const struct perf_mapping *mapping)
{
    enum { MOST_READ = 1024 };
    char path[64 + 256], link[PATH_ROOM];
    size_t name_length = strlen(mapping->path);
    int code = -ENOENT;
    snprintf(path, sizeof(path), "/proc/%" PRIu32 "/fd", pid);
    DIR *descriptors = opendir(path);
    for (int i = 0; descriptors && code == -ENOENT && i < MOST_READ; i++) {
        const struct dirent *entry = readdir(descriptors);
        if (!entry)
            break;
        snprintf(path, sizeof(path), "/proc/%" PRIu32 "/fd/%s", pid, entry->d_name);
        ssize_t length = readlink(path, link, sizeof(link) - 1);
        link[length > 0 ? length : 0] = '\0';
        if (!strncmp(link, mapping->path, name_length) && (!link[name_length] || link[name_length] == ' '))
            code = open_if_mapped(mapped, path, mapping->path, mapping);
    }
    if (descriptors)
        closedir(descriptors);
    return code;
}

int mapped_file_open(struct mapped_file *mapped, uint32_t pid, const struct perf_mapping *mapping)
{
    char path[PATH_ROOM];
    *mapped = (struct mapped_file){0};
    int code = open_if_mapped(mapped, mapping->path, mapping->path, mapping);
    mapped->can_reopen = code == 0;
    if (code != -ENOENT)
        return code;
    pid = proc_find_living_thread(pid);
    code = open_in_its_root(mapped, pid, mapping);
    if (code != -ENOENT)
        return code;
    snprintf(path, sizeof(path), "/proc/%" PRIu32 "/map_files/%" PRIx64 "-%" PRIx64, pid, mapping->start,
             mapping->start + mapping->length);
    code = open_if_mapped(mapped, path, mapping->path, mapping);
    if (code != -ENOENT)
        return code;
    snprintf(path, sizeof(path), "/proc/%" PRIu32 "/exe", pid);
    code = open_if_mapped(mapped, path, mapping->path, mapping);
    return code == -ENOENT ? open_by_descriptor(mapped, pid, mapping) : code;
}

int mapped_file_open_in_perf_cache(struct mapped_file *mapped, const char *cache, const struct perf_mapping *mapping)
{
    char path[PATH_ROOM], id[2 * UNWIND_BUILD_ID_MAX + 1];
    *mapped = (struct mapped_file){0};
    if (!mapping->has_build_id || mapping->build_id_size < 2 || mapping->build_id_size > UNWIND_BUILD_ID_MAX)
        return -ENOENT;
    for (size_t i = 0; i < mapping->build_id_size; i++)
        snprintf(id + 2 * i, 3, "%02x", mapping->build_id[i]);
    snprintf(path, sizeof(path), "%s/.build-id/%.2s/%s/elf", cache, id, id + 2);
    int code = open_if_mapped(mapped, path, path, mapping);
    mapped->can_reopen = code == 0;
    return code;
}

void mapped_file_destroy(struct mapped_file *mapped)
{
    unwind_module_unref(mapped->module);
    file_source_unref(mapped->file);
    *mapped = (struct mapped_file){0};
}
