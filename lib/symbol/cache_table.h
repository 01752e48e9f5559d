/*
 * The cached answers of one library: spans of addresses with their symbol and frames. Tables have the same layout in
 * memory and in files, so that loading is one read. cache_table.c documents the layout.
 */
#pragma once

#include "base/hash.h"
#include "symbol/symbol.h"

enum {
    CACHE_NONE = UINT32_MAX,
    CACHE_TABLE_MAX = 48 << 20 /* bytes of a saved table */
};

/* Limit of one table, in bytes. */

/* Addresses that share one answer. */
struct cache_span {
    uint32_t start, size; /* library-relative, bytes */
    uint32_t symbol;      /* index into symbols, or CACHE_NONE */
    uint32_t frame;       /* innermost frame: index into frames, or CACHE_NONE */
};

struct cache_symbol {
    uint64_t address, size;
    uint32_t name; /* text */
    uint32_t unused;
};

/* A frame and a link to its caller. The inlined calls of a function form a tree, which many addresses share. */
struct cache_frame {
    uint32_t caller;         /* index of the caller, an earlier element of frames, or CACHE_NONE */
    uint32_t function, file; /* texts */
    uint32_t line, column;
};

struct cache_table {
    ARRAY(struct cache_span) spans; /* spans in ascending order, without overlaps */
    ARRAY(struct cache_symbol) symbols;
    ARRAY(struct cache_frame) frames;
    ARRAY(char) texts; /* NUL-terminated texts; the empty text at offset 0 means "unknown" */
    uint64_t library, sources,
        writer;          /* identities of the library, its files and this build of prof: see symbol_cache.c */
    uint32_t mapped;     /* checksum of the size and time of the mapped file, or 0 if unknown */
    bool has_debug_info; /* see struct symbol_answers */
    bool is_from_dwarf;  /* the files had DWARF */

    bool is_indexed; /* the hash tables below are filled, after the first addition */
    struct hash symbol_index, frame_index, text_index;
};

void cache_table_destroy(struct cache_table *table);

/* Removes spans, symbols, frames and texts, and keeps the other members. */
void cache_table_clear(struct cache_table *table);

/* Encodes the table as bytes for a file. The caller frees them. NULL if memory ran out. */
unsigned char *cache_table_encode(const struct cache_table *table, size_t *size);

/* Decodes bytes into a zeroed table. Returns -EINVAL if the bytes are damaged, or -ENOMEM; after a failure the table is
 * zeroed. */
int cache_table_decode(struct cache_table *table, const void *bytes, size_t size);

/* Returns the size of the encoded table, in bytes. */
size_t cache_table_get_size(const struct cache_table *table);

/* Returns the index of the span that contains this address, or CACHE_NONE. */
uint32_t cache_table_find(const struct cache_table *table, uint64_t rva);

/* Adds answers: answers->answers[i] holds for `sizes[i]` bytes from rvas[i]. The ranges ascend and do not overlap. If
 * `sizes` is NULL, each answer holds for 1 byte. Answers with size 0 are skipped. New spans replace the spans that they
 * overlap. A table of CACHE_TABLE_MAX bytes does not grow. Returns false and empties the table if memory ran out. */
bool cache_table_add(struct cache_table *table, const uint64_t *rvas, const uint32_t *sizes,
                     const struct symbol_answers *answers);

/* Maps texts of one table to their copies. Starts zeroed. */
struct cache_texts {
    struct hash index;
    ARRAY(const char *) copies;
};

/* Appends the frames of a span to `answers`, copies their texts to its arena, and fills `answer`. Returns false if
 * memory ran out. */
bool cache_table_append_answer(const struct cache_table *table, uint32_t span, struct symbol_answers *answers,
                               struct symbol_answer *answer, struct cache_texts *texts);

void cache_texts_destroy(struct cache_texts *texts);
