/*
 * The cached answers of one library: spans of addresses with what is known of them, in a form that is searched as it
 * is, grows by what was looked up, and goes to a file and back (layout in cache_table.c).
 */
#ifndef PROF_SYMBOL_CACHE_TABLE_H
#define PROF_SYMBOL_CACHE_TABLE_H

#include "base/hash.h"
#include "symbol/symbol.h"

enum {
    CACHE_NONE = UINT32_MAX,
    CACHE_TABLE_MAX = 48 << 20 /* bytes of a file */
};

/* The rows are stored in files as they are. */

/* Addresses that all have the same answer. */
struct cache_span {
    uint32_t start, size; /* library-relative, bytes */
    uint32_t symbol;      /* into symbols, or CACHE_NONE */
    uint32_t frame;       /* the innermost, into frames, or CACHE_NONE */
};

struct cache_symbol {
    uint64_t address, size;
    uint32_t name; /* text */
    uint32_t unused;
};

/* A frame with all frames around it: the inlined calls of a function are a tree, which many addresses share. */
struct cache_frame {
    uint32_t caller;         /* an earlier one in frames, or CACHE_NONE */
    uint32_t function, file; /* texts */
    uint32_t line, column;
};

struct cache_table {
    ARRAY(struct cache_span) spans; /* ascending, none overlaps another */
    ARRAY(struct cache_symbol) symbols;
    ARRAY(struct cache_frame) frames;
    ARRAY(char) texts; /* each with its NUL; 0 is the place of the empty one, which stands for an unknown one */
    uint64_t library, sources, writer; /* what it is of, see symbol_cache.c */
    bool has_debug_info;               /* as in struct symbol_answers */
    bool is_from_dwarf;                /* the sources had DWARF */

    bool is_indexed; /* the following are filled: from the first addition on */
    struct hash symbol_index, frame_index, text_index;
};

void cache_table_destroy(struct cache_table *table);

/* Without spans, symbols, frames and texts; all else stays. */
void cache_table_clear(struct cache_table *table);

/* The bytes of a file, which the caller frees; NULL if memory ran out. */
unsigned char *cache_table_encode(const struct cache_table *table, size_t *size);

/* The reverse, into a zeroed table. -EINVAL if the bytes are damaged, -ENOMEM; then the table is zeroed. */
int cache_table_decode(struct cache_table *table, const void *bytes, size_t size);

/* How many bytes cache_table_encode() would give. */
size_t cache_table_size(const struct cache_table *table);

/* The span that holds this address, or CACHE_NONE. */
uint32_t cache_table_find(const struct cache_table *table, uint64_t rva);

/* Adds answers: answers->answers[i] holds for the `sizes[i]` bytes (NULL: 1 each; 0: is left out) from rvas[i] on,
 * which ascend and do not overlap. Where they overlap spans that are there, those go. A table of CACHE_TABLE_MAX takes
 * no more. False if memory ran out; then the table is empty. */
bool cache_table_add(struct cache_table *table, const uint64_t *rvas, const uint32_t *sizes,
                     const struct symbol_answers *answers);

/* Texts that were copied out of one table. Zero it. */
struct cache_texts {
    struct hash index;
    ARRAY(const char *) copies;
};

/* Appends the frames of a span to `answers`, with their texts in its arena, and fills `answer`. False if memory ran
 * out. */
bool cache_table_answer(const struct cache_table *table, uint32_t span, struct symbol_answers *answers,
                        struct symbol_answer *answer, struct cache_texts *texts);

void cache_texts_destroy(struct cache_texts *texts);

#endif
