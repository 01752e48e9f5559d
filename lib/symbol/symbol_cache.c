/*
 * The cache of symbolization answers.
 *
 * A build id identifies a library if only root and this user can have written its files: any user can give a file the
 * build id of another one. The device, inode, size and times identify the files of other users and of containers, and
 * files without a build id. A file that changed is another file. The answers of a library are one table
 * (cache_table.h), in memory and in one file of the cache directory.
 *
 * A table records the files of its answers: the build ids, sizes and times of the mapped file, its debug file, the dwz
 * file, the symbols in .gnu_debugdata. If prof finds another debug file, the table starts empty. If the debug info or
 * all files are gone, prof uses the cached answers and adds no new ones, because the cached answers are better. prof
 * ignores a table that another build of prof wrote, because that build may have had bugs.
 *
 * The kernel's symbols come from no file, so prof does not check their table.
 *
 * An answer from debug info holds for one address; an answer from symbol tables holds for an address range.
 *
 * The cache bounds its memory by writing all tables to their files and freeing them.
 */
#include "symbol/symbol_cache.h"

#include "base/checksum.h"
#include "os/directory.h"
#include "symbol/cache_table.h"
#include "symbol/kallsyms.h"
#include "symbol/library_id.h"

#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MEMORY_MAX = 64 << 20, FULL_TABLE = CACHE_TABLE_MAX / 4 * 3, NAME_SIZE = CODE_ID_SIZE + 16 };

struct cache_entry {
    char name[NAME_SIZE]; /* of its file */
    pthread_mutex_t lock;
    struct cache_table table;
    bool is_loaded, is_changed;
    unsigned users; /* guarded by the cache's lock */
};

struct symbol_cache {
    int directory; /* -1: none */
    uint64_t writer;
    pthread_mutex_t lock;
    ARRAY(struct cache_entry *) entries;
};

/* ---- identities ---- */

/* Identifies this build of prof. */
static uint64_t find_own_build(void)
{
    struct elf_file file;
    uint64_t build = checksum_bytes(PROF_VERSION, strlen(PROF_VERSION));
    if (elf_file_open(&file, "/proc/self/exe", NULL) == 0) {
        build = checksum_mix(build, checksum_bytes(file.build_id, file.build_id_size));
        elf_file_close(&file);
    }
    return build;
}

static void format_build_id_name(char name[NAME_SIZE], const unsigned char *id, size_t size)
{
    char hex[CODE_ID_SIZE];
    write_code_id(id, size, hex);
    snprintf(name, NAME_SIZE, "%s", hex);
}

/* Reads the same identity as file_identity_read(), and the time of the last change, which no user can set. Returns
 * false if the file is gone. */
static bool stat_source(const struct file_source *source, struct stat *info)
{
    int fd = source ? file_source_open(source) : -1;
    bool is_known = fd >= 0 && fstat(fd, info) == 0;
    if (fd >= 0)
        close(fd);
    return is_known;
}

static bool is_in_container(const struct symbol_lib *lib)
{
    return lib->origin && lib->origin->root_fd >= 0;
}

static bool is_trusted(const struct stat *info)
{
    return (info->st_uid == 0 || info->st_uid == geteuid()) && !(info->st_mode & S_IWOTH);
}

/* Returns a checksum of size and time, which differs between files with the same build id (except for forged files).
 * Never 0. */
static uint32_t checksum_file_version(const struct stat *info)
{
    const uint64_t version[] = {(uint64_t)info->st_size, (uint64_t)info->st_mtim.tv_sec, info->st_mtim.tv_nsec};
    return (uint32_t)checksum_bytes(version, sizeof(version)) | 1;
}

/* The identity of a library's open files together. */
struct identity {
    uint64_t contents; /* equal for equal files */
    uint64_t files;    /* identity of the opened files alone, or 0 if unknown */
    uint32_t mapped;   /* checksum_file_version() of the mapped file, or 0 if unknown */
    bool is_trusted;
};

static void add_file(struct identity *identity, bool has, const struct elf_file *file)
{
    struct stat info;
    uint64_t id = has ? checksum_bytes(file->build_id, file->build_id_size) : 0;
    bool is_file = has && file->source && stat_source(file->source, &info);
    identity->contents = checksum_mix(checksum_mix(identity->contents, id), has ? file->bytes.size : 0);
    if (has && file->source && !is_file)
        identity->is_trusted = false;
    if (!is_file)
        return;
    const uint64_t own[] = {
        info.st_dev,          info.st_ino,          (uint64_t)info.st_size,        (uint64_t)info.st_mtim.tv_sec,
        info.st_mtim.tv_nsec, info.st_ctim.tv_nsec, (uint64_t)info.st_ctim.tv_sec,
    };
    identity->contents = checksum_mix(identity->contents, checksum_file_version(&info));
    identity->files = checksum_mix(identity->files, checksum_bytes(own, sizeof(own)));
    identity->is_trusted &= is_trusted(&info);
}

static struct identity identify_files(const struct debug_files *files, const struct symbol_lib *lib)
{
    struct stat info;
    bool has_file = files->has_mapped || files->has_separate;
    struct identity identity = {.is_trusted = !has_file || !is_in_container(lib)};
    add_file(&identity, files->has_mapped, &files->mapped);
    add_file(&identity, files->has_separate, &files->separate);
    add_file(&identity, files->has_alternate, &files->alternate);
    add_file(&identity, files->has_mini, &files->mini);
    if (files->has_mapped && stat_source(files->mapped.source, &info))
        identity.mapped = checksum_file_version(&info);
    return identity;
}

/* Writes the name of a library's cache entry, or "" if nothing identifies the library. */
static void format_entry_name(char name[NAME_SIZE], const struct symbol_lib *lib, const struct debug_files *files,
                              const struct identity *identity)
{
    name[0] = '\0';
    if (identity->is_trusted && lib->build_id && lib->build_id_size)
        format_build_id_name(name, lib->build_id, lib->build_id_size);
    else if (identity->is_trusted && files->has_mapped && files->mapped.build_id_size)
        format_build_id_name(name, files->mapped.build_id, files->mapped.build_id_size);
    else if (identity->files)
        snprintf(name, NAME_SIZE, "file-%016" PRIx64, identity->files);
}

/* Gets the size and time of the mapped file, or of the file that is now at its path. */
static bool stat_mapped_file(const struct symbol_lib *lib, struct stat *info)
{
    if (lib->origin && lib->origin->file)
        return stat_source(lib->origin->file, info);
    return lib->path && stat(lib->path, info) == 0;
}

/* ---- entries ---- */

static void load_table(struct symbol_cache *cache, struct cache_entry *entry)
{
    size_t size;
    unsigned char *bytes = file_directory_load(cache->directory, entry->name, CACHE_TABLE_MAX, &size);
    uint64_t library = checksum_bytes(entry->name, strlen(entry->name));
    if (bytes && cache_table_decode(&entry->table, bytes, size) == 0 &&
        (entry->table.library != library || entry->table.writer != cache->writer))
        cache_table_destroy(&entry->table);
    free(bytes);
    entry->table.library = library;
    entry->table.writer = cache->writer;
}

static struct cache_entry *add_entry(struct symbol_cache *cache, const char *name)
{
    struct cache_entry *entry = calloc(1, sizeof(*entry));
    if (!entry || !array_push(&cache->entries, entry)) {
        free(entry);
        return NULL;
    }
    snprintf(entry->name, sizeof(entry->name), "%s", name);
    pthread_mutex_init(&entry->lock, NULL);
    return entry;
}

/* Finds or creates the entry with its table loaded; release_entry() releases it. NULL if memory ran out. */
static struct cache_entry *acquire_entry(struct symbol_cache *cache, const char *name)
{
    struct cache_entry *entry = NULL;
    pthread_mutex_lock(&cache->lock);
    for (size_t i = 0; i < cache->entries.length && !entry; i++)
        if (strcmp(cache->entries.data[i]->name, name) == 0)
            entry = cache->entries.data[i];
    if (!entry)
        entry = add_entry(cache, name);
    if (entry)
        entry->users++;
    pthread_mutex_unlock(&cache->lock);
    if (!entry)
        return NULL;
    pthread_mutex_lock(&entry->lock);
    if (!entry->is_loaded)
        load_table(cache, entry);
    entry->is_loaded = true;
    pthread_mutex_unlock(&entry->lock);
    return entry;
}

static void free_entry(struct cache_entry *entry)
{
    cache_table_destroy(&entry->table);
    pthread_mutex_destroy(&entry->lock);
    free(entry);
}

static bool save_entry(struct symbol_cache *cache, struct cache_entry *entry)
{
    size_t size = 0;
    pthread_mutex_lock(&entry->lock);
    bool save = entry->is_changed && cache_table_get_size(&entry->table) <= CACHE_TABLE_MAX;
    unsigned char *bytes = save ? cache_table_encode(&entry->table, &size) : NULL;
    entry->is_changed = false;
    pthread_mutex_unlock(&entry->lock);
    if (bytes)
        file_directory_save(cache->directory, entry->name, bytes, size);
    free(bytes);
    return bytes != NULL;
}

/* The caller holds the cache's lock, or is the only thread. */
static void save_entries(struct symbol_cache *cache)
{
    bool has_saved = false;
    for (size_t i = 0; cache->directory >= 0 && i < cache->entries.length; i++)
        has_saved |= save_entry(cache, cache->entries.data[i]);
    if (has_saved)
        file_directory_trim(cache->directory, CACHE_DIRECTORY_MAX);
}

/* Writes and frees all tables if they exceed the limit and are not in use. */
static void limit_memory(struct symbol_cache *cache)
{
    uint64_t size = 0;
    for (size_t i = 0; i < cache->entries.length; i++) {
        if (cache->entries.data[i]->users)
            return;
        size += cache_table_get_size(&cache->entries.data[i]->table);
    }
    if (size <= MEMORY_MAX)
        return;
    save_entries(cache);
    for (size_t i = 0; i < cache->entries.length; i++)
        free_entry(cache->entries.data[i]);
    cache->entries.length = 0;
}

static void release_entry(struct symbol_cache *cache, struct cache_entry *entry)
{
    pthread_mutex_lock(&cache->lock);
    entry->users--;
    limit_memory(cache);
    pthread_mutex_unlock(&cache->lock);
}

/* ---- the cache ---- */

struct symbol_cache *symbol_cache_new(const char *directory)
{
    struct symbol_cache *cache = calloc(1, sizeof(*cache));
    if (!cache)
        return NULL;
    cache->directory = directory ? file_directory_open(directory, NULL) : -1;
    cache->writer = find_own_build();
    pthread_mutex_init(&cache->lock, NULL);
    return cache;
}

void symbol_cache_free(struct symbol_cache *cache)
{
    if (!cache)
        return;
    save_entries(cache);
    for (size_t i = 0; i < cache->entries.length; i++)
        free_entry(cache->entries.data[i]);
    array_free(&cache->entries);
    if (cache->directory >= 0)
        close(cache->directory);
    pthread_mutex_destroy(&cache->lock);
    free(cache);
}

void symbol_cache_keep_sections(const struct symbol_cache *cache, struct debug_files *files)
{
    if (cache && cache->directory > 0)
        files->mapped.section_cache = files->separate.section_cache = files->alternate.section_cache = cache->directory;
}

/* ---- the kernel ---- */

/* Writes the name of the cache file with this kernel's functions. Returns false if no such file can exist. */
static bool format_kernel_name(const struct symbol_cache *cache, const struct symbol_lib *lib, char name[NAME_SIZE])
{
    char id[NAME_SIZE];
    if (!cache || cache->directory < 0 || lib->build_id_size == 0)
        return false;
    format_build_id_name(id, lib->build_id, lib->build_id_size);
    return snprintf(name, NAME_SIZE, "kallsyms-%s", id) < NAME_SIZE;
}

bool symbol_cache_load_kernel(const struct symbol_cache *cache, const struct symbol_job *job, struct kallsyms *kallsyms)
{
    char name[NAME_SIZE];
    int file = format_kernel_name(cache, &job->lib, name) ? file_directory_open_file(cache->directory, name) : -1;
    bool is_there = file >= 0 && kallsyms_decode(kallsyms, file, job->rvas, job->count) == 0;
    if (file >= 0)
        close(file);
    return is_there;
}

void symbol_cache_save_kernel(const struct symbol_cache *cache, const struct symbol_lib *lib,
                              const struct kallsyms *kallsyms)
{
    char name[NAME_SIZE];
    size_t size;
    unsigned char *bytes = format_kernel_name(cache, lib, name) ? kallsyms_encode(kallsyms, &size) : NULL;
    if (bytes)
        file_directory_save(cache->directory, name, bytes, size);
    free(bytes);
}

/* ---- one library ---- */

struct cached_library symbol_cache_open(struct symbol_cache *cache, const struct symbol_lib *lib)
{
    struct cached_library library = {.cache = cache};
    struct stat info;
    char name[NAME_SIZE];
    if (!cache || !lib->build_id || lib->build_id_size == 0 || is_in_container(lib))
        return library;
    bool has_file = stat_mapped_file(lib, &info);
    if (has_file && !is_trusted(&info))
        return library;
    format_build_id_name(name, lib->build_id, lib->build_id_size);
    library.entry = acquire_entry(cache, name);
    if (!library.entry)
        return library;
    pthread_mutex_lock(&library.entry->lock);
    const struct cache_table *table = &library.entry->table;
    bool counts =
        table->is_from_dwarf && (!has_file || !table->mapped || table->mapped == checksum_file_version(&info));
    pthread_mutex_unlock(&library.entry->lock);
    if (!counts)
        cached_library_close(&library);
    return library;
}

static void drop_worse_answers(struct cache_table *table, const struct cached_library *library)
{
    bool is_better = !library->has_files || (table->is_from_dwarf && !library->has_dwarf);
    if (table->sources == library->sources || (is_better && table->spans.length))
        return;
    cache_table_clear(table);
    table->has_debug_info = false;
    table->is_from_dwarf = library->has_dwarf;
    table->sources = library->sources;
    table->mapped = library->mapped;
}

void cached_library_set_files(struct cached_library *library, struct symbol_cache *cache, const struct symbol_lib *lib,
                              const struct debug_files *files)
{
    char name[NAME_SIZE];
    cached_library_close(library);
    if (!cache)
        return;
    struct identity identity = identify_files(files, lib);
    format_entry_name(name, lib, files, &identity);
    struct cache_entry *entry = name[0] ? acquire_entry(cache, name) : NULL;
    if (!entry)
        return;
    *library = (struct cached_library){.cache = cache,
                                       .entry = entry,
                                       .sources = identity.contents,
                                       .mapped = identity.mapped,
                                       .has_files = files->has_mapped || files->has_separate,
                                       .has_dwarf = debug_files_get_dwarf(files) != NULL};
    pthread_mutex_lock(&entry->lock);
    drop_worse_answers(&entry->table, library);
    pthread_mutex_unlock(&entry->lock);
}

static bool find_cached_answers(const struct cache_table *table, const uint64_t *rvas, size_t count,
                                struct symbol_answers *answers, uint32_t *missing, size_t *missing_count)
{
    struct cache_texts texts = {0};
    bool complete = true;
    for (size_t i = 0; complete && i < count; i++) {
        uint32_t span = cache_table_find(table, rvas[i]);
        if (span == CACHE_NONE)
            missing[(*missing_count)++] = (uint32_t)i;
        else
            complete = cache_table_append_answer(table, span, answers, &answers->answers[i], &texts);
    }
    cache_texts_destroy(&texts);
    return complete;
}

int cached_library_fill_answers(const struct cached_library *library, const uint64_t *rvas, size_t count,
                                struct symbol_answers *answers, uint32_t *missing, size_t *missing_count,
                                struct error *err)
{
    *missing_count = 0;
    answers->answers = arena_alloc(&answers->arena, (count + 1) * sizeof(*answers->answers));
    if (!answers->answers)
        return error_no_memory(err);
    memset(answers->answers, 0, (count + 1) * sizeof(*answers->answers));
    answers->count = count;
    if (!library->entry) {
        for (size_t i = 0; i < count; i++)
            missing[(*missing_count)++] = (uint32_t)i;
        return 0;
    }
    pthread_mutex_lock(&library->entry->lock);
    bool complete = find_cached_answers(&library->entry->table, rvas, count, answers, missing, missing_count);
    bool has_debug_info = library->entry->table.has_debug_info;
    pthread_mutex_unlock(&library->entry->lock);
    answers->is_found = *missing_count < count;
    answers->has_debug_info = answers->is_found && has_debug_info;
    return complete ? 0 : error_no_memory(err);
}

void cached_library_add(const struct cached_library *library, const uint64_t *rvas, const uint32_t *sizes,
                        const struct symbol_answers *answers)
{
    struct cache_entry *entry = library->entry;
    if (!entry)
        return;
    pthread_mutex_lock(&entry->lock);
    if (entry->table.sources == library->sources) {
        if (cache_table_get_size(&entry->table) >
            FULL_TABLE) /* the latest answers are the likeliest to be requested again */
            cache_table_clear(&entry->table);
        cache_table_add(&entry->table, rvas, sizes, answers);
        entry->table.has_debug_info |= answers->has_debug_info;
        entry->is_changed = true;
    }
    pthread_mutex_unlock(&entry->lock);
}

void cached_library_close(struct cached_library *library)
{
    if (library->entry)
        release_entry(library->cache, library->entry);
    *library = (struct cached_library){.cache = library->cache};
}
