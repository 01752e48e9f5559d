/*
 * A table's index is a hash from 64 bits to a row. If the contents of a row fit in 64 bits, they are the key. Otherwise
 * the key is a hash of the contents, and the lookup compares the found row. If the row differs (a hash collision, which
 * never happens in practice), the lookup continues with the next key, mixed with the number of the attempt.
 */
#include "profile/intern.h"

void interner_init(struct interner *interner, struct profile *profile)
{
    *interner = (struct interner){.profile = profile};
}

void interner_destroy(struct interner *interner)
{
    hash_destroy(&interner->stacks);
    hash_destroy(&interner->frames);
    hash_destroy(&interner->funcs);
    hash_destroy(&interner->resources);
    hash_destroy(&interner->native_symbols);
    hash_destroy(&interner->sources);
    hash_destroy(&interner->libs);
    hash_destroy(&interner->categories);
    hash_destroy(&interner->subcategories);
    *interner = (struct interner){0};
}

static uint64_t make_pair_key(uint32_t high, uint32_t low)
{
    return (uint64_t)high << 32 | low;
}

/* Stores a newly appended row in its slot of the index. After a failure to append, PROFILE_NONE leaves the slot
 * empty. */
static uint32_t store_row(uint32_t *place, uint32_t row)
{
    _Static_assert(PROFILE_NONE == HASH_MISSING, "a failed append returns the number of a missing row");
    return *place = row;
}

typedef bool (*row_equals)(const struct profile *profile, uint32_t row, const void *wanted);

/* Returns the slot of the row that equals `wanted`, or the empty slot for a new row, under `*key`, or NULL if memory
 * ran out. */
static uint32_t *find_slot(struct hash *index, const struct profile *profile, uint64_t *key, row_equals equals,
                           const void *wanted)
{
    for (uint64_t attempt = 1;; attempt++) {
        uint32_t *place = hash_at(index, *key);
        if (!place || *place == HASH_MISSING || equals(profile, *place, wanted))
            return place;
        *key = hash_mix(*key, attempt);
    }
}

uint32_t intern_stack(struct interner *interner, uint32_t prefix, uint32_t frame)
{
    uint64_t key = make_pair_key(prefix, frame);
    uint32_t *place = hash_at(&interner->stacks, key);
    if (!place || *place != HASH_MISSING)
        return place ? *place : PROFILE_NONE;
    return store_row(place, profile_add_stack(interner->profile, prefix, frame));
}

static bool frame_equals(const struct profile *profile, uint32_t row, const void *wanted)
{
    const struct frame_table *table = &profile->frames;
    const struct frame_row *frame = wanted;
    return table->address[row] == frame->address && table->func[row] == frame->func && table->lib[row] == frame->lib &&
           table->line[row] == frame->line && table->column[row] == frame->column &&
           table->inline_depth[row] == frame->inline_depth && table->category[row] == frame->category &&
           table->subcategory[row] == frame->subcategory && table->native_symbol[row] == frame->native_symbol;
}

static uint32_t append_frame(struct profile *profile, const struct frame_row *frame)
{
    uint32_t row = profile_add_frame(profile, frame->func, frame->lib, frame->address);
    if (row == PROFILE_NONE)
        return row;
    struct frame_table *table = &profile->frames;
    table->inline_depth[row] = frame->inline_depth;
    table->category[row] = frame->category;
    table->subcategory[row] = frame->subcategory;
    table->native_symbol[row] = frame->native_symbol;
    table->line[row] = frame->line;
    table->column[row] = frame->column;
    return row;
}

uint32_t intern_frame(struct interner *interner, const struct frame_row *row)
{
    uint64_t key = hash_mix((uint64_t)row->address, make_pair_key(row->func, row->lib));
    key = hash_mix(key, make_pair_key(row->line, row->column));
    key = hash_mix(key, make_pair_key(row->category, row->subcategory));
    key = hash_mix(key, make_pair_key(row->native_symbol, row->inline_depth));
    uint32_t *place = find_slot(&interner->frames, interner->profile, &key, frame_equals, row);
    if (!place || *place != HASH_MISSING)
        return place ? *place : PROFILE_NONE;
    return store_row(place, append_frame(interner->profile, row));
}

static bool func_equals(const struct profile *profile, uint32_t row, const void *wanted)
{
    const struct func_table *table = &profile->funcs;
    const struct func_row *func = wanted;
    return table->name[row] == func->name && table->resource[row] == func->resource &&
           table->source[row] == func->source && table->line[row] == func->line && table->column[row] == func->column &&
           table->flags[row] == func->flags;
}

static uint32_t append_func(struct profile *profile, const struct func_row *func)
{
    uint32_t row = profile_add_func(profile, func->name, func->resource);
    if (row == PROFILE_NONE)
        return row;
    struct func_table *table = &profile->funcs;
    table->source[row] = func->source;
    table->line[row] = func->line;
    table->column[row] = func->column;
    table->flags[row] = func->flags;
    return row;
}

uint32_t intern_func(struct interner *interner, const struct func_row *row)
{
    uint64_t key = hash_mix(make_pair_key(row->name, row->resource), make_pair_key(row->source, row->flags));
    key = hash_mix(key, make_pair_key(row->line, row->column));
    uint32_t *place = find_slot(&interner->funcs, interner->profile, &key, func_equals, row);
    if (!place || *place != HASH_MISSING)
        return place ? *place : PROFILE_NONE;
    return store_row(place, append_func(interner->profile, row));
}

#define APPEND(array, row) (array_push(&(array), (row)) ? (uint32_t)(array).length - 1 : PROFILE_NONE)

static bool resource_equals(const struct profile *profile, uint32_t row, const void *wanted)
{
    const struct resource *have = &profile->resources.data[row], *resource = wanted;
    return have->name == resource->name && have->host == resource->host && have->type == resource->type;
}

uint32_t intern_resource(struct interner *interner, const struct resource *row)
{
    uint64_t key = hash_mix(make_pair_key(row->name, row->host), row->type);
    uint32_t *place = find_slot(&interner->resources, interner->profile, &key, resource_equals, row);
    if (!place || *place != HASH_MISSING)
        return place ? *place : PROFILE_NONE;
    return store_row(place, APPEND(interner->profile->resources, *row));
}

uint32_t intern_library_resource(struct interner *interner, uint32_t name)
{
    enum { RESOURCE_LIBRARY = 1 };
    return intern_resource(interner, &(struct resource){.name = name, .host = PROFILE_NONE, .type = RESOURCE_LIBRARY});
}

static bool native_symbol_equals(const struct profile *profile, uint32_t row, const void *wanted)
{
    const struct native_symbol *have = &profile->native_symbols.data[row], *symbol = wanted;
    return have->lib == symbol->lib && have->address == symbol->address && have->name == symbol->name;
}

uint32_t intern_native_symbol(struct interner *interner, const struct native_symbol *row)
{
    uint64_t key = hash_mix((uint64_t)row->address, make_pair_key(row->lib, row->name));
    uint32_t *place = find_slot(&interner->native_symbols, interner->profile, &key, native_symbol_equals, row);
    if (!place || *place != HASH_MISSING)
        return place ? *place : PROFILE_NONE;
    return store_row(place, APPEND(interner->profile->native_symbols, *row));
}

uint32_t intern_source(struct interner *interner, const struct source *row)
{
    uint64_t key = make_pair_key(row->filename, row->id);
    uint32_t *place = hash_at(&interner->sources, key);
    if (!place || *place != HASH_MISSING)
        return place ? *place : PROFILE_NONE;
    return store_row(place, APPEND(interner->profile->sources, *row));
}

uint32_t intern_source_file(struct interner *interner, uint32_t filename)
{
    return intern_source(interner, &(struct source){.filename = filename,
                                                    .id = PROFILE_NONE,
                                                    .start_line = 1,
                                                    .start_column = 1,
                                                    .content = PROFILE_NONE,
                                                    .source_map_url = PROFILE_NONE});
}

static bool library_equals(const struct profile *profile, uint32_t row, const void *wanted)
{
    const struct library *have = &profile->libs.data[row], *lib = wanted;
    return have->arch == lib->arch && have->name == lib->name && have->path == lib->path &&
           have->debug_name == lib->debug_name && have->debug_path == lib->debug_path &&
           have->breakpad_id == lib->breakpad_id && have->code_id == lib->code_id;
}

uint32_t intern_library(struct interner *interner, const struct library *row)
{
    uint64_t key = hash_mix(make_pair_key(row->name, row->path), make_pair_key(row->debug_name, row->debug_path));
    key = hash_mix(key, make_pair_key(row->breakpad_id, row->code_id));
    key = hash_mix(key, row->arch);
    uint32_t *place = find_slot(&interner->libs, interner->profile, &key, library_equals, row);
    if (!place || *place != HASH_MISSING)
        return place ? *place : PROFILE_NONE;
    return store_row(place, APPEND(interner->profile->libs, *row));
}

uint32_t intern_category(struct interner *interner, const char *name, const char *color)
{
    uint32_t text = strings_add_z(&interner->profile->strings, name);
    uint32_t *place = text == STRING_NONE ? NULL : hash_at(&interner->categories, text);
    if (!place || *place != HASH_MISSING)
        return place ? *place : PROFILE_NONE;
    return store_row(place, profile_add_category(interner->profile, name, color));
}

/* Indexes the subcategories that the profile had before the interner. The key with STRING_NONE holds the number of
 * indexed rows. Returns false if memory ran out. */
static bool index_subcategories(struct hash *index, uint32_t category, const struct category *row)
{
    const uint32_t *known = hash_at(index, make_pair_key(category, STRING_NONE));
    size_t count = !known || *known == HASH_MISSING ? 0 : *known;
    if (!known)
        return false;
    for (size_t i = count; i < row->subcategories.length; i++) {
        uint32_t *place = hash_at(index, make_pair_key(category, row->subcategories.data[i]));
        if (!place)
            return false;
        if (*place == HASH_MISSING)
            *place = (uint32_t)i;
    }
    return hash_set(index, make_pair_key(category, STRING_NONE), (uint32_t)row->subcategories.length);
}

uint32_t intern_subcategory(struct interner *interner, uint32_t category, const char *name)
{
    struct category *row = &interner->profile->categories.data[category];
    uint32_t text = strings_add_z(&interner->profile->strings, name);
    if (text == STRING_NONE || !index_subcategories(&interner->subcategories, category, row))
        return PROFILE_NONE;
    uint32_t *place = hash_at(&interner->subcategories, make_pair_key(category, text));
    if (!place || *place != HASH_MISSING)
        return place ? *place : PROFILE_NONE;
    return store_row(place, APPEND(row->subcategories, text));
}
