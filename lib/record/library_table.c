/*
 * By the time that a mapping record is read, the process may be gone and the file replaced or deleted, and the process
 * may see other files than we do (a container). So a library is looked for where the process sees it (/proc/PID/root),
 * then by the mapping itself (/proc/PID/map_files, for root only) and as the program (/proc/PID/exe), which both reach
 * deleted files, and at last under its path as we see it. Only a file that is the mapped one is taken: the same build
 * id, or where the record has none, the same inode, or a file that has not changed since the recording began. (Some
 * file systems, overlayfs and btrfs among them, name other devices and inodes in mapping records than in stat().)
 */
#include "record/library_table.h"

#include "base/strings.h"
#include "record/own_vdso.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

struct library {
    uint32_t number;
    struct unwind_module *module; /* NULL if the file could not be read */
};

struct library_table {
    struct spool_writer *spool;
    struct open_files *open_files; /* or NULL */
    struct strings keys;           /* index of a key = index of its library */
    ARRAY(struct library) libraries;
    uint32_t next_number;
    struct timespec opened; /* CLOCK_REALTIME, as file times are */
};

struct library_table *library_table_new(struct spool_writer *spool, struct error *err)
{
    struct library_table *table = calloc(1, sizeof(*table));
    if (!table) {
        error_no_memory(err);
        return NULL;
    }
    table->spool = spool;
    clock_gettime(CLOCK_REALTIME, &table->opened);
    return table;
}

void library_table_free(struct library_table *table)
{
    if (!table)
        return;
    for (size_t i = 0; i < table->libraries.length; i++)
        unwind_module_unref(table->libraries.data[i].module);
    array_free(&table->libraries);
    strings_destroy(&table->keys);
    free(table);
}

void library_table_keep(struct library_table *table, struct open_files *files)
{
    table->open_files = files;
}

int library_table_add(struct library_table *table, const struct spool_lib *lib, uint32_t *number, struct error *err)
{
    *number = table->next_number++;
    struct spool_event event = {.kind = SPOOL_LIB, .number = *number, .lib = *lib};
    return spool_writer_event(table->spool, &event, err);
}

/* ---- finding the file ---- */

static bool is_unchanged_since(const struct stat *info, const struct timespec *time)
{
    return info->st_ctim.tv_sec < time->tv_sec ||
           (info->st_ctim.tv_sec == time->tv_sec && info->st_ctim.tv_nsec < time->tv_nsec);
}

struct opened_file {
    int fd;
    struct stat info;
    struct unwind_module *module; /* NULL if it is no ELF file that can be read */
    unsigned char build_id[UNWIND_BUILD_ID_MAX];
    size_t build_id_size;
};

static bool is_mapped_file(const struct library_table *table, const struct perf_mapping *mapping,
                           const struct opened_file *file)
{
    const struct stat *info = &file->info;
    if (mapping->has_build_id)
        return file->module && file->build_id_size >= mapping->build_id_size &&
               !memcmp(file->build_id, mapping->build_id, mapping->build_id_size);
    bool same_inode = info->st_ino == mapping->inode && major(info->st_dev) == mapping->device_major &&
                      minor(info->st_dev) == mapping->device_minor;
    return same_inode || is_unchanged_since(info, &table->opened);
}

static bool open_if_mapped(const struct library_table *table, const char *path, const struct perf_mapping *mapping,
                           struct opened_file *file)
{
    file->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file->fd < 0)
        return false;
    bool is_file = fstat(file->fd, &file->info) == 0 && S_ISREG(file->info.st_mode);
    file->module = is_file ? unwind_module_open(file->fd, mapping->path, NULL) : NULL;
    file->build_id_size = file->module ? unwind_module_build_id(file->module, file->build_id) : 0;
    if (is_file && is_mapped_file(table, mapping, file))
        return true;
    unwind_module_unref(file->module);
    close(file->fd);
    return false;
}

static bool open_mapped(const struct library_table *table, uint32_t pid, const struct perf_mapping *mapping,
                        struct opened_file *file)
{
    char path[4096 + 64];
    snprintf(path, sizeof(path), "/proc/%" PRIu32 "/root%s", pid, mapping->path);
    if (open_if_mapped(table, path, mapping, file))
        return true;
    snprintf(path, sizeof(path), "/proc/%" PRIu32 "/map_files/%" PRIx64 "-%" PRIx64, pid, mapping->start,
             mapping->start + mapping->length);
    if (open_if_mapped(table, path, mapping, file))
        return true;
    snprintf(path, sizeof(path), "/proc/%" PRIu32 "/exe", pid);
    return open_if_mapped(table, path, mapping, file) || open_if_mapped(table, mapping->path, mapping, file);
}

/* ---- new libraries ---- */

static int remember(struct library_table *table, const struct spool_lib *lib, struct unwind_module *module,
                    struct error *err)
{
    struct library library = {.module = module};
    if (!array_push(&table->libraries, library)) {
        unwind_module_unref(module);
        return error_no_memory(err);
    }
    return library_table_add(table, lib, &table->libraries.data[table->libraries.length - 1].number, err);
}

static int add_file(struct library_table *table, uint32_t pid, const struct perf_mapping *mapping, struct error *err)
{
    struct opened_file file;
    struct spool_lib lib = {.kind = SPOOL_LIB_FILE,
                            .path = mapping->path,
                            .build_id = mapping->build_id,
                            .build_id_size = mapping->build_id_size,
                            .device = makedev(mapping->device_major, mapping->device_minor),
                            .inode = mapping->inode};
    if (!open_mapped(table, pid, mapping, &file))
        return remember(table, &lib, NULL, err);
    lib.device = file.info.st_dev;
    lib.inode = file.info.st_ino;
    lib.size = (uint64_t)file.info.st_size;
    lib.mtime_ns = (uint64_t)file.info.st_mtim.tv_sec * 1000000000u + (uint64_t)file.info.st_mtim.tv_nsec;
    if (file.module) {
        lib.build_id = file.build_id;
        lib.build_id_size = file.build_id_size;
    }
    bool ok = true;
    if (table->open_files)
        ok = open_files_add(table->open_files, table->next_number, file.fd, open_files_root(table->open_files, pid));
    else
        close(file.fd);
    int code = remember(table, &lib, file.module, err);
    return ok ? code : error_no_memory(err);
}

static int add_vdso(struct library_table *table, struct error *err)
{
    size_t size;
    const unsigned char *image = own_vdso(&size);
    struct spool_lib lib = {.kind = SPOOL_LIB_VDSO, .path = "[vdso]", .image = image, .image_size = size};
    struct unwind_module *module = image ? unwind_module_from_memory(image, size, "[vdso]", NULL) : NULL;
    return remember(table, &lib, module, err);
}

/* ---- lookup ---- */

/* Of the first byte of a mapping. Without a segment that holds it the offset itself, which is the same in most files.
 */
static uint64_t library_rva(const struct library *library, uint64_t file_offset)
{
    uint64_t vaddr = library->module ? unwind_module_vaddr(library->module, file_offset) : UINT64_MAX;
    return vaddr == UINT64_MAX ? file_offset : vaddr - unwind_module_base(library->module);
}

static bool is_vdso(const char *path)
{
    return !strcmp(path, "[vdso]");
}

/* "//anon", "[heap]", "[stack]", "anon_inode:...", and what has a path but is no file. */
static bool is_anonymous(const char *path)
{
    return path[0] != '/' || !strncmp(path, "//anon", 6) || !strncmp(path, "/dev/zero", 9) ||
           !strncmp(path, "/memfd:", 7) || !strncmp(path, "/SYSV", 5) || !strncmp(path, "/anon_hugepage", 14);
}

static uint32_t key_of(struct library_table *table, const struct perf_mapping *mapping)
{
    char key[4096 + 128];
    size_t length = strnlen(mapping->path, 4096);
    memcpy(key, mapping->path, length);
    key[length++] = '\0';
    if (is_vdso(mapping->path))
        return strings_add(&table->keys, key, length);
    if (mapping->has_build_id) {
        memcpy(key + length, mapping->build_id, mapping->build_id_size);
        length += mapping->build_id_size;
    } else {
        length += (size_t)snprintf(key + length, 96, "%" PRIu32 ":%" PRIu32 ":%" PRIu64, mapping->device_major,
                                   mapping->device_minor, mapping->inode);
    }
    return strings_add(&table->keys, key, length);
}

int library_table_find(struct library_table *table, uint32_t pid, const struct perf_mapping *mapping,
                       struct library_mapping *found, struct error *err)
{
    *found = (struct library_mapping){.lib = SPOOL_NO_NUMBER};
    if (!is_vdso(mapping->path) && is_anonymous(mapping->path))
        return 0;
    uint32_t index = key_of(table, mapping);
    if (index == STRING_NONE)
        return error_no_memory(err);
    if (index == table->libraries.length) {
        int code = is_vdso(mapping->path) ? add_vdso(table, err) : add_file(table, pid, mapping, err);
        if (code)
            return code;
    }
    const struct library *library = &table->libraries.data[index];
    found->lib = library->number;
    found->module = library->module;
    found->rva = library_rva(library, mapping->file_offset);
    return 0;
}
