#include "record/library_table.h"

#include "base/strings.h"
#include "record/mapped_file.h"
#include "record/proc_maps.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

struct library {
    uint32_t number;
    uint32_t failures;             /* how often its file was looked for in vain */
    struct file_source *file;      /* NULL: not found, or it is no file */
    struct unwind_module *module;  /* NULL if there is no ELF file that can be read */
    struct python_library *python; /* NULL: it does not hold CPython */
};

struct library_table {
    struct spool_writer *spool;
    struct open_files *open_files; /* or NULL */
    struct strings keys;           /* index of a key = index of its library */
    ARRAY(struct library) libraries;
    uint32_t next_number;
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
    free(table);
}

void library_table_keep(struct library_table *table, struct open_files *files)
{
    table->open_files = files;
}

/* ---- new libraries ---- */

static int write_event(struct library_table *table, uint32_t number, const struct spool_lib *lib, struct error *err)
{
    struct spool_event event = {.kind = SPOOL_LIB, .number = number, .lib = *lib};
    return spool_writer_event(table->spool, &event, err);
}

int library_table_add(struct library_table *table, const struct spool_lib *lib, uint32_t *number, struct error *err)
{
    *number = table->next_number++;
    return write_event(table, *number, lib, err);
}

static int write_file(struct library_table *table, const struct library *library, const struct perf_mapping *mapping,
                      const struct mapped_file *mapped, struct error *err)
{
    struct file_identity identity = {.device = makedev(mapping->device_major, mapping->device_minor),
                                     .inode = mapping->inode};
    struct spool_lib lib = {.kind = SPOOL_LIB_FILE,
                            .path = mapping->path,
                            .build_id = mapping->build_id,
                            .build_id_size = mapping->build_id_size};
    if (mapped->file)
        identity = mapped->file->identity;
    if (mapped->module) {
        lib.build_id = mapped->build_id;
        lib.build_id_size = mapped->build_id_size;
    }
    lib.device = identity.device;
    lib.inode = identity.inode;
    lib.size = identity.size;
    lib.mtime_ns = identity.mtime_ns;
    return write_event(table, library->number, &lib, err);
}

/* Where it is CPython, so it is known how its frames are found. */
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

/* Looks for the file of a library that has none yet. */
static int find_file(struct library_table *table, struct library *library, uint32_t pid,
                     const struct perf_mapping *mapping, struct error *err)
{
    struct mapped_file mapped;
    int code = mapped_file_open(&mapped, pid, mapping);
    if (code == -ENOMEM)
        return error_no_memory(err);
    if (code) {
        library->failures++;
        return library->failures == 1 ? write_file(table, library, mapping, &mapped, err) : 0;
    }
    if (library->failures)
        library->number = table->next_number++; /* where the file was not known, rva was a guess */
    code = write_file(table, library, mapping, &mapped, err);
    if (!code && table->open_files && !open_files_add(table->open_files, library->number, &mapped, pid))
        code = error_no_memory(err);
    library->module = unwind_module_ref(mapped.module);
    library->file = file_source_ref(mapped.file);
    library->python = find_python(mapped.file, mapping->path);
    mapped_file_destroy(&mapped);
    return code;
}

static int add_vdso(struct library_table *table, struct library *library, struct error *err)
{
    size_t size;
    const unsigned char *image = proc_maps_own_vdso(&size);
    struct spool_lib lib = {.kind = SPOOL_LIB_VDSO, .path = "[vdso]", .image = image, .image_size = size};
    if (image && unwind_module_from_memory(&library->module, image, size, "[vdso]", NULL) == -ENOMEM)
        return error_no_memory(err);
    return write_event(table, library->number, &lib, err);
}

/* ---- lookup ---- */

/* Of the first byte of a mapping. Without a segment that holds it the offset itself, which is the same in most files.
 */
static uint64_t library_rva(const struct library *library, uint64_t file_offset)
{
    uint64_t vaddr = library->module ? unwind_module_vaddr(library->module, file_offset) : UINT64_MAX;
    return vaddr == UINT64_MAX ? file_offset : vaddr - unwind_module_base(library->module);
}

/* That of a 32-bit process, below 4 GiB, is another one than ours. */
static bool is_vdso(const struct perf_mapping *mapping)
{
    return !strcmp(mapping->path, "[vdso]") && mapping->start >> 32;
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
    if (is_vdso(mapping))
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

/* A library without a file: at first, and now and then in other mappings. The process may not have let us look (a
 * program that has changed its user), or may have seen a file system that is gone. */
static bool is_time_to_look(const struct library *library)
{
    return !library->file && (library->failures & (library->failures - 1)) == 0;
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
    uint32_t index = key_of(table, mapping);
    if (index == STRING_NONE)
        return error_no_memory(err);
    bool is_new = index == table->libraries.length;
    if (is_new && !array_push(&table->libraries, (struct library){.number = table->next_number++}))
        return error_no_memory(err);
    struct library *library = &table->libraries.data[index];
    if (is_vdso(mapping))
        code = is_new ? add_vdso(table, library, err) : 0;
    else if (is_time_to_look(library))
        code = find_file(table, library, pid, mapping, err);
    else if (!library->file)
        library->failures++;
    found->lib = library->number;
    found->module = library->module;
    found->python = library->python;
    found->rva = library_rva(library, mapping->file_offset);
    return code;
}

size_t library_table_lost(const struct library_table *table, const char **path)
{
    size_t count = 0;
    for (size_t i = 0; i < table->libraries.length; i++) {
        const struct file_source *file = table->libraries.data[i].file;
        if (file && file->lost && count++ == 0)
            *path = file->path;
    }
    return count;
}

size_t library_table_missing(const struct library_table *table, const char **path)
{
    size_t count = 0;
    for (size_t i = 0; i < table->libraries.length; i++)
        if (table->libraries.data[i].failures && !table->libraries.data[i].file && count++ == 0)
            *path = strings_text(&table->keys, (uint32_t)i);
    return count;
}
