#include "process/proc_maps.h"

#include "os/file_proc.h"

#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <unistd.h>

static void remove_suffix(char *text, const char *end)
{
    size_t length = strlen(text), end_length = strlen(end);
    if (length >= end_length && !strcmp(text + length - end_length, end))
        text[length - end_length] = '\0';
}

void proc_maps_strip_deleted(char *path)
{
    remove_suffix(path, " (deleted)");
}

bool proc_maps_parse(char *line, struct perf_mapping *mapping)
{
    char permissions[5];
    uint64_t end;
    int path_at = -1;
    memset(mapping, 0, sizeof(*mapping));
    if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %" SCNx32 ":%" SCNx32 " %" SCNu64 " %n", &mapping->start,
               &end, permissions, &mapping->file_offset, &mapping->device_major, &mapping->device_minor,
               &mapping->inode, &path_at) < 7 ||
        path_at < 0 || end < mapping->start || strlen(permissions) != 4)
        return false;
    mapping->length = end - mapping->start;
    mapping->executable = permissions[2] == 'x';
    char *path = line + path_at;
    remove_suffix(path, "\n");
    proc_maps_strip_deleted(path);
    mapping->path = path;
    return true;
}

int proc_maps_read(uint32_t pid, int (*use)(void *context, const struct perf_mapping *mapping), void *context)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%" PRIu32 "/maps", proc_find_living_thread(pid));
    FILE *maps = fopen(path, "re");
    if (!maps)
        return -errno;
    char *line = NULL;
    size_t capacity = 0;
    int code = 0;
    errno = 0;
    while (!code && getline(&line, &capacity, maps) > 0) {
        struct perf_mapping mapping;
        if (proc_maps_parse(line, &mapping))
            code = use(context, &mapping);
    }
    if (!code && !feof(maps)) /* the process ended, or memory ran out */
        code = errno ? -errno : -EIO;
    free(line);
    fclose(maps);
    return code;
}

int proc_maps_open(uint32_t tid)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%" PRIu32 "/maps", tid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

/* linux/fs.h has these since Linux 6.11. */
struct procmap_query_request {
    uint64_t size, query_flags, query_addr;
    uint64_t vma_start, vma_end, vma_flags, vma_page_size, vma_offset, inode;
    uint32_t dev_major, dev_minor, vma_name_size, build_id_size;
    uint64_t vma_name_addr, build_id_addr;
};
#define PROCMAP_QUERY_REQUEST _IOWR('f', 17, struct procmap_query_request)
enum { QUERY_VMA_EXECUTABLE = 0x04 };

int proc_maps_find(int maps, uint64_t address, bool wants_build_id, char path[PROC_MAPS_PATH],
                   struct perf_mapping *mapping)
{
    struct procmap_query_request query = {.size = sizeof(query),
                                          .query_flags = QUERY_VMA_EXECUTABLE,
                                          .query_addr = address,
                                          .vma_name_size = PROC_MAPS_PATH,
                                          .vma_name_addr = (uint64_t)(uintptr_t)path};
    *mapping = (struct perf_mapping){.path = path};
    if (wants_build_id) {
        query.build_id_size = sizeof(mapping->build_id);
        query.build_id_addr = (uint64_t)(uintptr_t)mapping->build_id;
    }
    if (ioctl(maps, PROCMAP_QUERY_REQUEST, &query))
        return errno == ENOENT ? 0 : -errno;
    if (!query.vma_name_size)
        path[0] = '\0';
    proc_maps_strip_deleted(path);
    mapping->start = query.vma_start;
    mapping->length = query.vma_end - query.vma_start;
    mapping->file_offset = query.vma_offset;
    mapping->executable = true;
    mapping->device_major = query.dev_major;
    mapping->device_minor = query.dev_minor;
    mapping->inode = query.inode;
    mapping->build_id_size = wants_build_id ? query.build_id_size : 0;
    mapping->has_build_id = mapping->build_id_size > 0;
    return 1;
}

static int store_if_vdso(void *context, const struct perf_mapping *mapping)
{
    if (mapping->start == getauxval(AT_SYSINFO_EHDR))
        *(struct perf_mapping *)context = *mapping;
    return 0;
}

const unsigned char *proc_maps_find_own_vdso(size_t *size)
{
    struct perf_mapping own = {0};
    proc_maps_read((uint32_t)getpid(), store_if_vdso, &own);
    *size = own.length;
    return (const unsigned char *)(uintptr_t)own.start;
}
