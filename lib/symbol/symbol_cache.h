/*
 * Cache of symbolization answers: from this symbolizer's earlier lookups, and from earlier runs. Only symbolizer.c uses
 * it, from several threads.
 */
#pragma once

#include "symbol/debug_file.h"
#include "symbol/symbol.h"

struct kallsyms;
struct symbol_cache;

/* `directory` holds the saved files ("/home/me/.cache/prof"). If `directory` is NULL or unusable, the cache is in
 * memory only. NULL if memory runs out. */
struct symbol_cache *symbol_cache_new(const char *directory);

/* Saves the libraries that have new answers. A failed write is not an error. Accepts NULL. */
void symbol_cache_free(struct symbol_cache *cache);

/* Loads the saved functions at the job's addresses in a kernel (SYMBOL_LIB_KERNEL), because reading /proc/kallsyms
 * takes 40 to 70 ms. Returns false if the cache has no functions of the kernel; otherwise the caller destroys
 * `kallsyms`. */
bool symbol_cache_load_kernel(const struct symbol_cache *cache, const struct symbol_job *job,
                              struct kallsyms *kallsyms);
void symbol_cache_save_kernel(const struct symbol_cache *cache, const struct symbol_lib *lib,
                              const struct kallsyms *kallsyms);

/* Lets the readers of these files store decompressed sections in the cache directory. */
void symbol_cache_keep_sections(const struct symbol_cache *cache, struct debug_files *files);

/* The cached answers of one library, during one lookup. All zero: an empty cache that accepts no answers. */
struct cached_library {
    struct symbol_cache *cache;
    struct cache_entry *entry;
    uint64_t sources;          /* identity of the open files */
    uint32_t mapped;           /* version of the mapped file, or 0 if unknown */
    bool has_files, has_dwarf; /* has_files: a file is open; has_dwarf: an open file has DWARF */
};

/* Opens the cache of a library by its recorded build id, before opening any of its files, unless the mapped file may be
 * another file with this build id. Only answers from DWARF count, because no other file could give better answers. */
struct cached_library symbol_cache_open(struct symbol_cache *cache, const struct symbol_lib *lib);

/* Call this function when the library's files are open (the kernel's symbols have no file). Drops cached answers unless
 * they came from the same or better files. */
void cached_library_set_files(struct cached_library *library, struct symbol_cache *cache, const struct symbol_lib *lib,
                              const struct debug_files *files);

/* Fills the zeroed `answers` from the cache for sorted rvas, and stores the indexes of the others in `missing`, which
 * has `count` elements. Sets is_found and has_debug_info if any answer is cached. Fails only when memory runs out. */
int cached_library_fill_answers(const struct cached_library *library, const uint64_t *rvas, size_t count,
                                struct symbol_answers *answers, uint32_t *missing, size_t *missing_count,
                                struct error *err);

/* Adds answers from the library's files, as cache_table_add() does; does nothing if the cached answers came from other
 * files. */
void cached_library_add(const struct cached_library *library, const uint64_t *rvas, const uint32_t *sizes,
                        const struct symbol_answers *answers);

void cached_library_close(struct cached_library *library);
