#include "process/library_table.h"

#include "os/clock.h"
#include "os/file_timeout.h"
#include "base/hash.h"
#include "base/strings.h"
#include "os/target_memory.h"
#include "process/mapped_file.h"
#include "process/proc_maps.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

enum { VDSO_MAX = 64 << 10 }; /* bytes; the vDSOs of Linux have 4 to 8 KiB */

struct library {
    uint32_t number;               /* SPOOL_NO_NUMBER: a memory file that is not known to be an ELF file */
    bool is_no_elf_file;           /* the table has found that the file is not an ELF file */
    uint32_t failures;             /* failed searches for its file */
    struct file_source *file;      /* NULL if not found, or no file */
    struct unwind_module *module;  /* NULL without a readable ELF file */
    struct python_library *python; /* if NULL, the library does not contain CPython */
    bool is_silent;                /* its file system does not answer */
};

struct library_table {
    struct spool_writer *spool;
    struct open_files *open_files; /* may be NULL */
    const char *perf_cache;        /* may be NULL */
    struct strings keys;           /* index of a key = index of its library */
    ARRAY(struct library) libraries;
    uint32_t next_number;
    struct hash devices; /* devices without a disk: whether their file systems respond */
    size_t silent_devices;
    size_t silent; /* files on unresponsive file systems, and the path of the first such file */
    char first_silent[128];
};

struct library_table *library_table_new(struct spool_writer *spool)
{
    struct library_table *table = calloc(1, sizeof(*table));
    if (table)
        table->spool = spool;
    return table;
}

void library_table_free(struct library_table *table)
{
    if (!table)
        return;
    for (size_t i = 0; i < table->libraries.length; i++) {
        unwind_module_unref(table->libraries.data[i].module);
        file_source_unref(table->libraries.data[i].file);
        free(table->libraries.data[i].python);
    }
    array_free(&table->libraries);
    strings_destroy(&table->keys);
    hash_destroy(&table->devices);
    free(table);
}

void library_table_set_open_files(struct library_table *table, struct open_files *files)
{
    table->open_files = files;
}

void library_table_set_perf_cache(struct library_table *table, const char *cache)
{
    table->perf_cache = cache;
}

/* ---- new libraries ---- */

int library_table_add(struct library_table *table, const struct spool_library *library, uint32_t *number,
                      struct error *err)
{
    struct spool_library numbered = *library;
    *number = numbered.library = table->next_number++;
    return spool_write_library(table->spool, &numbered, err);
}

static int write_file(struct library_table *table, const struct library *library, const struct perf_mapping *mapping,
                      const struct mapped_file *mapped, struct error *err)
{
    struct file_identity identity = {.device = makedev(mapping->device_major, mapping->device_minor),
                                     .inode = mapping->inode};
    if (mapped->file)
        identity = mapped->file->identity;
    const struct spool_library written = {
        .library = library->number,
        .library_kind = SPOOL_LIB_FILE,
        .path = mapping->path,
        .build_id = mapped->module ? (struct spool_blob){mapped->build_id, mapped->build_id_size}
                                   : (struct spool_blob){mapping->build_id, mapping->build_id_size},
        .device = identity.device,
        .inode = identity.inode,
        .size_bytes = identity.size,
        .mtime_ns = identity.mtime_ns};
    return spool_write_library(table->spool, &written, err);
}

/* Reads the data of CPython that python_frames.h needs to find its frames, or NULL if not CPython. */
static struct python_library *find_python(struct file_source *file, const char *path)
{
    struct python_library python, *found;
    if (!file || !python_library_is_likely(path) || !python_library_read(file, &python))
        return NULL;
    found = malloc(sizeof(*found));
    if (found)
        *found = python;
    return found;
}

/* ---- opening ---- */

/* Limit (ns) for opening a file, less than the 50 ms of samples that the rings hold. */
static const uint64_t timeout_ns = UINT64_C(40) * 1000 * 1000;

/* Limit of threads that wait for unresponsive file systems; beyond it, no other file system is tested. */
enum { SILENT_MAX = 16 };

enum { ANSWERS = 1, IS_SILENT }; /* of devices */

struct opening {
    struct file_work work;
    uint32_t pid;
    struct perf_mapping mapping;
    char *path;
    struct mapped_file mapped;
    struct python_library *python;
    int code;
    bool answers;
};

static void free_opening(struct file_work *work)
{
    struct opening *opening = (struct opening *)work;
    mapped_file_destroy(&opening->mapped);
    free(opening->python);
    free(opening->path);
    free(opening);
}

/* Opens a file on a separate thread, and reads all unwind information at once, because the file system may stop
 * responding later. */
static void open_file(struct file_work *work)
{
    struct opening *opening = (struct opening *)work;
    opening->code = mapped_file_open(&opening->mapped, opening->pid, &opening->mapping);
    if (opening->code)
        return;
    opening->answers = file_system_responds(opening->mapped.file->fd);
    if (!opening->answers)
        unwind_module_load(opening->mapped.module);
    opening->python = find_python(opening->mapped.file, opening->path);
}

/* Finds the first file system on the path to a file that may not answer: a file system without a disk that has not
 * answered so far. Disks have a major number; file systems in memory and in networks, FUSE, overlayfs and btrfs have
 * none. The kernel itself answers requests for the root of the file system and the directories above it. */
static bool find_unknown_device(const struct library_table *table, const char *root, const char *path, uint64_t *device)
{
    enum { ROOM = 4096 + 64 };
    char prefix[ROOM];
    struct statx info;
    size_t length = strlen(root);
    if (length + strlen(path) >= sizeof(prefix))
        return false;
    memcpy(prefix, root, length);
    for (const char *slash = path; slash; slash = strchr(slash + 1, '/')) {
        size_t end = length + (size_t)(slash - path);
        memcpy(prefix + length, path, end - length);
        memcpy(prefix + end, "/", 2);
        if (statx(AT_FDCWD, prefix, AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT, 0, &info))
            return false;
        *device = makedev(info.stx_dev_major, info.stx_dev_minor);
        if (!info.stx_dev_major && hash_get(&table->devices, *device) != ANSWERS)
            return true;
    }
    return false;
}

static bool may_be_silent(const struct library_table *table, uint32_t pid, const struct perf_mapping *mapping,
                          uint64_t *device)
{
    char root[64];
    snprintf(root, sizeof(root), "/proc/%" PRIu32 "/root", pid);
    return find_unknown_device(table, "", mapping->path, device) ||
           (pid && find_unknown_device(table, root, mapping->path, device));
}

static void set_silent(struct library_table *table, struct library *library, const struct perf_mapping *mapping)
{
    library->is_silent = true;
    if (!table->silent++)
        snprintf(table->first_silent, sizeof(table->first_silent), "%s", mapping->path);
    if (table->open_files && library->number != SPOOL_NO_NUMBER)
        open_files_set_silent(table->open_files, library->number);
}

static int open_on_thread(struct library_table *table, struct library *library, uint32_t pid,
                          const struct perf_mapping *mapping, uint64_t device, struct mapped_file *mapped)
{
    *mapped = (struct mapped_file){0};
    if (table->silent_devices >= SILENT_MAX || hash_get(&table->devices, device) == IS_SILENT) {
        set_silent(table, library, mapping);
        return -ENOENT;
    }
    struct opening *opening = calloc(1, sizeof(*opening));
    if (!opening)
        return -ENOMEM;
    *opening = (struct opening){
        .work = {open_file, free_opening}, .pid = pid, .mapping = *mapping, .path = strdup(mapping->path)};
    if (!opening->path) {
        free(opening);
        return -ENOMEM;
    }
    opening->mapping.path = opening->path;
    int code = file_run_with_timeout(&opening->work, timeout_ns);
    if (code) {
        table->silent_devices++;
        set_silent(table, library, mapping);
        return hash_set(&table->devices, device, IS_SILENT) ? -ENOENT : -ENOMEM;
    }
    bool is_there = !opening->code && opening->mapped.file->identity.device == device; /* not by another path */
    if (opening->answers && is_there && !hash_set(&table->devices, device, ANSWERS))
        opening->code = -ENOMEM;
    code = opening->code;
    if (!code) {
        *mapped = opening->mapped;
        library->python = opening->python;
        opening->mapped = (struct mapped_file){0};
        opening->python = NULL;
    }
    free_opening(&opening->work);
    return code;
}

/* Whether a mapped file has no path: a memfd_create() file, or a System V segment. Packers and loaders run ELF files
 * from such memory, and JIT compilers put code there. */
static bool is_file_in_memory(const char *path)
{
    return !strncmp(path, "/memfd:", 7) || !strncmp(path, "/SYSV", 5);
}

/* Whether the mapping counts as a library only if its file is an ELF file. The kernel reads build ids only from ELF
 * files. */
static bool needs_elf_file(const struct perf_mapping *mapping)
{
    return is_file_in_memory(mapping->path) && !mapping->has_build_id;
}

/* Searches the file of a library that has no file yet. */
static int find_file(struct library_table *table, struct library *library, uint32_t pid,
                     const struct perf_mapping *mapping, struct error *err)
{
    struct mapped_file mapped;
    uint64_t device;
    bool is_beside = may_be_silent(table, pid, mapping, &device);
    int code = is_beside ? open_on_thread(table, library, pid, mapping, device, &mapped)
                         : mapped_file_open(&mapped, pid, mapping);
    if (code == -ENOENT && table->perf_cache)
        code = mapped_file_open_in_perf_cache(&mapped, table->perf_cache, mapping);
    if (code == -ENOMEM)
        return error_no_memory(err);
    if (code) {
        library->failures++;
        return library->failures == 1 && !needs_elf_file(mapping) ? write_file(table, library, mapping, &mapped, err)
                                                                  : 0;
    }
    if (needs_elf_file(mapping) && !mapped.module) {
        library->is_no_elf_file = true;
        mapped_file_destroy(&mapped);
        return 0;
    }
    if (library->failures || library->number == SPOOL_NO_NUMBER)
        library->number = table->next_number++; /* without the file, the table estimated rva */
    code = write_file(table, library, mapping, &mapped, err);
    if (!code && table->open_files && !open_files_add(table->open_files, library->number, &mapped, pid))
        code = error_no_memory(err);
    library->module = unwind_module_ref(mapped.module);
    library->file = file_source_ref(mapped.file);
    if (!is_beside)
        library->python = find_python(mapped.file, mapping->path);
    mapped_file_destroy(&mapped);
    return code;
}

static bool is_vdso(const struct perf_mapping *mapping)
{
    return !strcmp(mapping->path, "[vdso]");
}

static bool is_32_bit_vdso(const struct perf_mapping *mapping)
{
    return is_vdso(mapping) && !(mapping->start >> 32);
}

/* Adds a vDSO. All 64-bit processes have the same vDSO as prof; all 32-bit processes share another vDSO. */
static size_t read_vdso(uint32_t pid, const struct perf_mapping *mapping, unsigned char image[VDSO_MAX])
{
    size_t size;
    const unsigned char *own = is_32_bit_vdso(mapping) ? NULL : proc_maps_find_own_vdso(&size);
    if (own && size <= VDSO_MAX) {
        memcpy(image, own, size);
        return size;
    }
    size = mapping->length < VDSO_MAX ? mapping->length : VDSO_MAX;
    return pid ? target_memory_read((struct target_thread){pid, pid}, mapping->start, image, size) : 0;
}

static int add_vdso(struct library_table *table, struct library *library, uint32_t pid,
                    const struct perf_mapping *mapping, struct error *err)
{
    unsigned char image[VDSO_MAX];
    size_t size = read_vdso(pid, mapping, image);
    const struct spool_library vdso = {.library = library->number,
                                       .library_kind = SPOOL_LIB_VDSO,
                                       .path = is_32_bit_vdso(mapping) ? "[vdso32]" : "[vdso]",
                                       .image_bytes = {image, size}};
    if (size && unwind_module_open_memory(&library->module, image, size, vdso.path, NULL) == -ENOMEM)
        return error_no_memory(err);
    return spool_write_library(table->spool, &vdso, err);
}

/* ---- lookup ---- */

/* Returns the rva of the first byte of a mapping. An address without a segment has the file offset as its rva, which
 * is equal in most files. */
static uint64_t get_library_rva(const struct library *library, uint64_t file_offset)
{
    uint64_t vaddr = library->module ? unwind_module_find_vaddr(library->module, file_offset) : UINT64_MAX;
    return vaddr == UINT64_MAX ? file_offset : vaddr - unwind_module_get_base(library->module);
}

/* Whether the name of a mapping is not a file: "//anon", "[heap]", "[stack]", "anon_inode:...". */
static bool is_anonymous(const char *path)
{
    return path[0] != '/' || !strncmp(path, "//anon", 6) || !strncmp(path, "/dev/zero", 9) ||
           !strncmp(path, "/anon_hugepage", 14);
}

static uint32_t find_key(struct library_table *table, const struct perf_mapping *mapping)
{
    char key[4096 + 128];
    size_t length = strnlen(mapping->path, 4096);
    memcpy(key, mapping->path, length);
    key[length++] = '\0';
    if (is_vdso(mapping)) {
        key[length++] = is_32_bit_vdso(mapping) ? '3' : '6';
        return strings_add(&table->keys, key, length);
    }
    if (mapping->has_build_id) {
        memcpy(key + length, mapping->build_id, mapping->build_id_size);
        length += mapping->build_id_size;
    } else {
        length += (size_t)snprintf(key + length, 96, "%" PRIu32 ":%" PRIu32 ":%" PRIu64, mapping->device_major,
                                   mapping->device_minor, mapping->inode);
    }
    return strings_add(&table->keys, key, length);
}

/* Whether to search for the file of a library again: at its first mapping, then at fewer and fewer later ones. Earlier,
 * the process may have been unreadable (a program that changed its user), or its file system unmounted. */
static bool is_check_due(const struct library *library)
{
    return !library->file && !library->is_silent && !library->is_no_elf_file &&
           (library->failures & (library->failures - 1)) == 0;
}

int library_table_find(struct library_table *table, uint32_t pid, const struct perf_mapping *mapping,
                       struct library_mapping *found, struct error *err)
{
    int code = 0;
    *found = (struct library_mapping){.lib = SPOOL_NO_NUMBER};
    if (!is_vdso(mapping) && is_anonymous(mapping->path))
        return 0;
    if (!array_reserve(&table->libraries, 1))
        return error_no_memory(err);
    uint32_t index = find_key(table, mapping);
    if (index == STRING_NONE)
        return error_no_memory(err);
    bool is_new = index == table->libraries.length;
    uint32_t number = is_new && !needs_elf_file(mapping) ? table->next_number++ : SPOOL_NO_NUMBER;
    if (is_new && !array_push(&table->libraries, (struct library){.number = number}))
        return error_no_memory(err);
    struct library *library = &table->libraries.data[index];
    if (is_vdso(mapping))
        code = is_new ? add_vdso(table, library, pid, mapping, err) : 0;
    else if (is_check_due(library)) {
        uint64_t began = clock_ns(CLOCK_THREAD_CPUTIME_ID);
        code = find_file(table, library, pid, mapping, err);
        found->search_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - began;
    } else if (!library->file)
        library->failures++;
    if (library->number == SPOOL_NO_NUMBER)
        return code;
    found->lib = library->number;
    found->module = library->module;
    found->python = library->python;
    found->rva = get_library_rva(library, mapping->file_offset);
    return code;
}

bool library_table_may_open(struct library_table *table, uint32_t pid, const struct perf_mapping *mapping)
{
    struct library probe = {.number = SPOOL_NO_NUMBER};
    struct mapped_file mapped;
    uint64_t device;
    if (!may_be_silent(table, pid, mapping, &device))
        return true;
    open_on_thread(table, &probe, pid, mapping, device, &mapped);
    mapped_file_destroy(&mapped);
    free(probe.python);
    return !probe.is_silent;
}

/* Whether opening the file in this root directory is fast enough. */
static bool is_reachable(struct library_table *table, int root_fd, const char *path)
{
    char root[64];
    uint64_t device;
    snprintf(root, sizeof(root), "/proc/self/fd/%d", root_fd);
    if (!find_unknown_device(table, root, path, &device))
        return true;
    bool is_silent = hash_get(&table->devices, device) == IS_SILENT;
    int fd = is_silent ? -ETIMEDOUT : file_open_with_timeout(root_fd, path + 1, O_PATH | O_CLOEXEC, timeout_ns);
    if (fd >= 0)
        close(fd);
    is_silent = fd == -ETIMEDOUT;
    hash_set(&table->devices, device, is_silent ? IS_SILENT : ANSWERS);
    return !is_silent;
}

void library_table_check_roots(struct library_table *table)
{
    for (size_t i = 0; table->open_files && i < table->libraries.length; i++) {
        uint32_t number = table->libraries.data[i].number;
        const char *path = strings_text(&table->keys, (uint32_t)i);
        int root_fd = open_files_get_root_fd(table->open_files, number);
        if (root_fd >= 0 && path[0] == '/' && !is_reachable(table, root_fd, path))
            open_files_drop_root(table->open_files, number);
    }
}

size_t library_table_count_lost(const struct library_table *table, const char **path)
{
    size_t count = 0;
    for (size_t i = 0; i < table->libraries.length; i++) {
        const struct file_source *file = table->libraries.data[i].file;
        if (file && file->lost && count++ == 0)
            *path = file->path;
    }
    return count;
}

size_t library_table_count_silent(const struct library_table *table, const char **path)
{
    *path = table->first_silent;
    return table->silent;
}

size_t library_table_count_missing(const struct library_table *table, const char **path)
{
    size_t count = 0;
    for (size_t i = 0; i < table->libraries.length; i++)
        if (table->libraries.data[i].failures && !table->libraries.data[i].file &&
            table->libraries.data[i].number != SPOOL_NO_NUMBER && count++ == 0)
            *path = strings_text(&table->keys, (uint32_t)i);
    return count;
}
