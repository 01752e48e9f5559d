/*
 * Adds rows to a profile's tables without duplicates. An interner indexes the rows of each table by contents;
 * intern_*() returns the equal row, or appends a new one. The assembler uses an interner for symbols, and the reader
 * for merging the per-thread tables of older files.
 *
 *     struct interner interner;
 *     interner_init(&interner, &profile);
 *     uint32_t lib = intern_library_resource(&interner, name);
 *     ...
 *     interner_destroy(&interner);
 *
 * Every function returns PROFILE_NONE if memory ran out. The interner does not find rows appended without it.
 */
#pragma once

#include "base/hash.h"
#include "profile/profile.h"

struct interner {
    struct profile *profile; /* borrowed */
    struct hash stacks, frames, funcs, resources, native_symbols, sources, libs, categories, subcategories;
};

/* A row of the frame table; columns as in struct frame_table. */
struct frame_row {
    int64_t address;
    uint32_t lib, func, category, subcategory, native_symbol, line, column;
    uint8_t inline_depth;
};

/* A row of the func table; columns as in struct func_table. Funcs that differ in any column stay separate in call
 * trees. */
struct func_row {
    uint32_t name, resource, source, line, column;
    uint8_t flags;
};

void interner_init(struct interner *interner, struct profile *profile);
void interner_destroy(struct interner *interner);

uint32_t intern_stack(struct interner *interner, uint32_t prefix, uint32_t frame);

/* Returns a frame without address, library, category, symbol and line; the caller sets the known columns. */
static inline struct frame_row make_frame_row(uint32_t func)
{
    return (struct frame_row){.address = -1,
                              .lib = PROFILE_NONE,
                              .func = func,
                              .category = PROFILE_NONE,
                              .subcategory = PROFILE_NONE,
                              .native_symbol = PROFILE_NONE};
}
uint32_t intern_frame(struct interner *interner, const struct frame_row *row);
uint32_t intern_func(struct interner *interner, const struct func_row *row);

uint32_t intern_resource(struct interner *interner, const struct resource *row);
/* Returns the resource of type library with this name (a string). */
uint32_t intern_library_resource(struct interner *interner, uint32_t name);

/* Equal rows have the same library, address and name; the first row's size stays. */
uint32_t intern_native_symbol(struct interner *interner, const struct native_symbol *row);

/* Equal rows have the same file name and id; an existing row keeps its other columns. */
uint32_t intern_source(struct interner *interner, const struct source *row);
/* Returns the source file of native code with this name (a string). */
uint32_t intern_source_file(struct interner *interner, uint32_t filename);

/* Equal rows have the same texts. */
uint32_t intern_library(struct interner *interner, const struct library *row);

/* Equal rows have the same name; the first row's color stays. */
uint32_t intern_category(struct interner *interner, const char *name, const char *color);
/* Returns the index of `name` among the subcategories of `category`. */
uint32_t intern_subcategory(struct interner *interner, uint32_t category, const char *name);
