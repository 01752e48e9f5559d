/*
 * The file of a cached library. Numbers have the byte order of the machine, and rows are saved as they are in memory,
 * so a table of 20 MB loads in a few milliseconds. A machine of the other byte order rejects the checksum.
 *
 *     "PROFSYM1"
 *     u64 checksum      checksum_bytes() of everything below
 *     u64 library       identity of the library             \
 *     u64 sources       identity of the files that were read | see symbol_cache.c
 *     u64 writer        the build of prof that read them    /
 *     u32 flags         1: the answers have debug info; 2: it is DWARF
 *     u32 span count, symbol count, frame count, bytes of texts
 *     u32 mapped        size and time of the mapped file, see symbol_cache.c
 *     spans             u32 start, size, symbol, frame            ascending, without overlaps
 *     symbols           u64 address, size; u32 name, unused
 *     frames            u32 caller, function, file, line, column  callers before callees
 *     texts             NUL-terminated; the first is empty and stands for "unknown"
 *
 * References are indexes of symbols and frames (2^32 - 1 for none), and offsets of texts.
 *
 * Loading validates a file once. The checksum detects damage by crashes and disks. Loading also checks all indexes,
 * offsets and sort orders, because the file may be hostile. So lookups only check the depth of a chain of callers.
 */
#include "symbol/cache_table.h"

#include "base/checksum.h"
#include "base/search.h"

static const char magic[8] = "PROFSYM1";

struct header {
    char magic[8];
    uint64_t checksum;
    uint64_t library, sources, writer;
    uint32_t flags;
    uint32_t span_count, symbol_count, frame_count, text_size;
    uint32_t mapped;
};
_Static_assert(sizeof(struct header) == 64 && sizeof(struct cache_span) == 16 && sizeof(struct cache_symbol) == 24 &&
                   sizeof(struct cache_frame) == 20,
               "rows have no gaps");

enum { CHECKED_FROM = 16, FLAG_DEBUG_INFO = 1, FLAG_DWARF = 2, CALLERS_MAX = 1024 };

void cache_table_clear(struct cache_table *table)
{
    array_free(&table->spans);
    array_free(&table->symbols);
    array_free(&table->frames);
    array_free(&table->texts);
    hash_destroy(&table->symbol_index);
    hash_destroy(&table->frame_index);
    hash_destroy(&table->text_index);
    table->is_indexed = false;
}

void cache_table_destroy(struct cache_table *table)
{
    cache_table_clear(table);
    *table = (struct cache_table){0};
}

/* ---- to bytes and back ---- */

size_t cache_table_get_size(const struct cache_table *table)
{
    size_t texts = table->texts.length ? table->texts.length : 1;
    return sizeof(struct header) + sizeof(*table->spans.data) * table->spans.length +
           sizeof(*table->symbols.data) * table->symbols.length + sizeof(*table->frames.data) * table->frames.length +
           texts;
}

static unsigned char *append_bytes(unsigned char *out, const void *bytes, size_t size)
{
    if (size == 0) /* `bytes` may be NULL */
        return out;
    memcpy(out, bytes, size);
    return out + size;
}

#define PUT_ROWS(out, rows) append_bytes((out), (rows)->data, (rows)->length * sizeof(*(rows)->data))

unsigned char *cache_table_encode(const struct cache_table *table, size_t *size)
{
    *size = cache_table_get_size(table);
    unsigned char *bytes = malloc(*size);
    if (!bytes)
        return NULL;
    struct header header = {.library = table->library,
                            .sources = table->sources,
                            .writer = table->writer,
                            .mapped = table->mapped,
                            .flags =
                                (table->has_debug_info ? FLAG_DEBUG_INFO : 0) | (table->is_from_dwarf ? FLAG_DWARF : 0),
                            .span_count = (uint32_t)table->spans.length,
                            .symbol_count = (uint32_t)table->symbols.length,
                            .frame_count = (uint32_t)table->frames.length,
                            .text_size = table->texts.length ? (uint32_t)table->texts.length : 1};
    memcpy(header.magic, magic, sizeof(magic));
    unsigned char *out = append_bytes(bytes, &header, sizeof(header));
    out = PUT_ROWS(out, &table->spans);
    out = PUT_ROWS(out, &table->symbols);
    out = PUT_ROWS(out, &table->frames);
    if (table->texts.length)
        PUT_ROWS(out, &table->texts);
    else
        *out = 0;
    uint64_t checksum = checksum_bytes(bytes + CHECKED_FROM, *size - CHECKED_FROM);
    memcpy(bytes + offsetof(struct header, checksum), &checksum, sizeof(checksum));
    return bytes;
}

static bool is_index(uint32_t index, size_t count)
{
    return index < count || index == CACHE_NONE;
}

static bool are_spans_valid(const struct cache_table *table)
{
    uint64_t end = 0;
    for (size_t i = 0; i < table->spans.length; i++) {
        const struct cache_span *span = &table->spans.data[i];
        if (span->start < end || span->size == 0 || span->size > UINT32_MAX - span->start ||
            !is_index(span->symbol, table->symbols.length) || !is_index(span->frame, table->frames.length))
            return false;
        end = (uint64_t)span->start + span->size;
    }
    return true;
}

static bool are_symbols_valid(const struct cache_table *table)
{
    for (size_t i = 0; i < table->symbols.length; i++)
        if (table->symbols.data[i].name >= table->texts.length)
            return false;
    return true;
}

static bool are_frames_valid(const struct cache_table *table)
{
    for (size_t i = 0; i < table->frames.length; i++) {
        const struct cache_frame *frame = &table->frames.data[i];
        if (!is_index(frame->caller, i) || frame->function >= table->texts.length || frame->file >= table->texts.length)
            return false;
    }
    return true;
}

/* The texts must end with a NUL, so that each text ends inside the table. */
static bool are_texts_valid(const struct cache_table *table)
{
    const char *texts = table->texts.data;
    return table->texts.length && !texts[0] && !texts[table->texts.length - 1];
}

/* Appends `count` rows from `*at`, whose bounds the caller has checked. Returns false if memory ran out. */
#define TAKE_ROWS(rows, at, count) (array_append((rows), *(at), (count)) && (*(at) += (count) * sizeof(*(rows)->data)))

static int decode_rows(struct cache_table *table, const struct header *header, const unsigned char *at, size_t size)
{
    uint64_t expected = (uint64_t)header->span_count * sizeof(*table->spans.data) +
                        (uint64_t)header->symbol_count * sizeof(*table->symbols.data) +
                        (uint64_t)header->frame_count * sizeof(*table->frames.data) + header->text_size;
    if (size != expected)
        return -EINVAL;
    table->library = header->library;
    table->sources = header->sources;
    table->writer = header->writer;
    table->mapped = header->mapped;
    table->has_debug_info = header->flags & FLAG_DEBUG_INFO;
    table->is_from_dwarf = header->flags & FLAG_DWARF;
    if (!TAKE_ROWS(&table->spans, &at, header->span_count) || !TAKE_ROWS(&table->symbols, &at, header->symbol_count) ||
        !TAKE_ROWS(&table->frames, &at, header->frame_count) || !TAKE_ROWS(&table->texts, &at, header->text_size))
        return -ENOMEM;
    bool good = are_spans_valid(table) && are_symbols_valid(table) && are_frames_valid(table) && are_texts_valid(table);
    return good ? 0 : -EINVAL;
}

int cache_table_decode(struct cache_table *table, const void *bytes, size_t size)
{
    struct header header;
    int code = -EINVAL;
    if (size < sizeof(header))
        return -EINVAL;
    memcpy(&header, bytes, sizeof(header));
    const unsigned char *start = bytes;
    if (memcmp(header.magic, magic, sizeof(magic)) == 0 &&
        header.checksum == checksum_bytes(start + CHECKED_FROM, size - CHECKED_FROM))
        code = decode_rows(table, &header, start + sizeof(header), size - sizeof(header));
    if (code != 0)
        cache_table_destroy(table);
    return code;
}

/* ---- searching ---- */

uint32_t cache_table_find(const struct cache_table *table, uint64_t rva)
{
    size_t before = search_count(table->spans.data, table->spans.length, element->start <= rva);
    if (before == 0 || rva - table->spans.data[before - 1].start >= table->spans.data[before - 1].size)
        return CACHE_NONE;
    return (uint32_t)before - 1;
}

/* Copies a text to `answers`. Returns NULL for the empty text, which means "unknown". */
static const char *add_answer_text(const struct cache_table *table, uint32_t place, struct symbol_answers *answers,
                                   struct cache_texts *texts, bool *no_memory)
{
    if (!table->texts.data[place])
        return NULL;
    uint32_t *index = hash_at(&texts->index, place);
    if (index && *index != HASH_MISSING)
        return texts->copies.data[*index];
    const char *text = table->texts.data + place;
    const char *copy = index ? arena_copy(&answers->arena, text, strlen(text)) : NULL;
    if (!copy || !array_push(&texts->copies, copy)) {
        if (index)
            hash_remove(&texts->index, place);
        *no_memory = true;
        return NULL;
    }
    *index = (uint32_t)texts->copies.length - 1;
    return copy;
}

bool cache_table_append_answer(const struct cache_table *table, uint32_t span_index, struct symbol_answers *answers,
                               struct symbol_answer *answer, struct cache_texts *texts)
{
    const struct cache_span *span = &table->spans.data[span_index];
    bool no_memory = false;
    *answer = (struct symbol_answer){.first_frame = (uint32_t)answers->frames.length};
    if (span->symbol != CACHE_NONE) {
        const struct cache_symbol *symbol = &table->symbols.data[span->symbol];
        answer->symbol = add_answer_text(table, symbol->name, answers, texts, &no_memory);
        answer->symbol_address = symbol->address;
        answer->symbol_size = symbol->size;
    }
    for (uint32_t at = span->frame; at != CACHE_NONE && answer->frame_count <= CALLERS_MAX;
         at = table->frames.data[at].caller)
        answer->frame_count++;
    if (answer->frame_count == 0)
        return !no_memory;
    if (!array_reserve(&answers->frames, answer->frame_count))
        return false;
    struct symbol_frame *outermost = answers->frames.data + answers->frames.length;
    uint32_t at = span->frame;
    for (uint32_t depth = answer->frame_count; depth-- > 0; at = table->frames.data[at].caller) {
        const struct cache_frame *frame = &table->frames.data[at];
        outermost[depth] =
            (struct symbol_frame){.function = add_answer_text(table, frame->function, answers, texts, &no_memory),
                                  .file = add_answer_text(table, frame->file, answers, texts, &no_memory),
                                  .line = frame->line,
                                  .column = frame->column};
    }
    answers->frames.length += answer->frame_count;
    return !no_memory;
}

void cache_texts_destroy(struct cache_texts *texts)
{
    hash_destroy(&texts->index);
    array_free(&texts->copies);
}

/* ---- adding ---- */

/* Hash indexes find equal rows. If two different rows have the same hash, which is rare, later additions store
 * duplicates. */
static bool is_same_symbol(const struct cache_symbol *a, const struct cache_symbol *b)
{
    return a->address == b->address && a->size == b->size && a->name == b->name;
}

static uint64_t hash_symbol(const struct cache_symbol *symbol)
{
    return hash_mix(hash_mix(symbol->address, symbol->size), symbol->name);
}

static bool is_same_frame(const struct cache_frame *a, const struct cache_frame *b)
{
    return a->caller == b->caller && a->function == b->function && a->file == b->file && a->line == b->line &&
           a->column == b->column;
}

static uint64_t hash_frame(const struct cache_frame *frame)
{
    uint64_t names = (uint64_t)frame->function << 32 | frame->file;
    uint64_t place = (uint64_t)frame->line << 32 | frame->column;
    return hash_mix(hash_mix(names, place), frame->caller);
}

static bool fill_text_index(struct cache_table *table)
{
    if (table->texts.length == 0 && !array_push(&table->texts, '\0'))
        return false;
    for (size_t at = 0; at < table->texts.length;) {
        size_t length = strlen(table->texts.data + at);
        if (!hash_set(&table->text_index, hash_bytes(table->texts.data + at, length), (uint32_t)at))
            return false;
        at += length + 1;
    }
    return true;
}

/* Fills the indexes of texts and symbols. Omits loaded frames, which are most of the rows. If a new answer needs a
 * loaded frame, the table stores a duplicate. */
static bool fill_indexes(struct cache_table *table)
{
    if (table->is_indexed)
        return true;
    bool complete = fill_text_index(table);
    for (size_t i = 0; complete && i < table->symbols.length; i++)
        complete = hash_set(&table->symbol_index, hash_symbol(&table->symbols.data[i]), (uint32_t)i);
    table->is_indexed = complete;
    return complete;
}

static bool add_text(struct cache_table *table, const char *text, uint32_t *place)
{
    *place = 0;
    if (!text)
        return true;
    size_t length = strlen(text);
    uint32_t *found = hash_at(&table->text_index, hash_bytes(text, length));
    if (!found)
        return false;
    if (*found != HASH_MISSING && strcmp(table->texts.data + *found, text) == 0) {
        *place = *found;
        return true;
    }
    bool is_new = *found == HASH_MISSING;
    *place = (uint32_t)table->texts.length;
    if (is_new)
        *found = *place;
    return array_append(&table->texts, text, length + 1);
}

static bool add_symbol(struct cache_table *table, const struct symbol_answer *answer, uint32_t *index)
{
    struct cache_symbol symbol = {.address = answer->symbol_address, .size = answer->symbol_size};
    *index = CACHE_NONE;
    if (!answer->symbol && !answer->symbol_size)
        return true;
    if (!add_text(table, answer->symbol, &symbol.name))
        return false;
    uint32_t *found = hash_at(&table->symbol_index, hash_symbol(&symbol));
    if (!found)
        return false;
    *index = (uint32_t)table->symbols.length;
    if (*found == HASH_MISSING)
        *found = *index;
    else if (is_same_symbol(&table->symbols.data[*found], &symbol))
        *index = *found;
    return *index < table->symbols.length || array_push(&table->symbols, symbol);
}

static bool add_frame(struct cache_table *table, const struct symbol_frame *from, uint32_t caller, uint32_t *index)
{
    struct cache_frame frame = {.caller = caller, .line = from->line, .column = from->column};
    if (!add_text(table, from->function, &frame.function) || !add_text(table, from->file, &frame.file))
        return false;
    uint32_t *found = hash_at(&table->frame_index, hash_frame(&frame));
    if (!found)
        return false;
    *index = (uint32_t)table->frames.length;
    if (*found == HASH_MISSING)
        *found = *index;
    else if (is_same_frame(&table->frames.data[*found], &frame))
        *index = *found;
    return *index < table->frames.length || array_push(&table->frames, frame);
}

static bool make_span(struct cache_table *table, const struct symbol_answers *answers, size_t i,
                      struct cache_span *span)
{
    const struct symbol_answer *answer = &answers->answers[i];
    span->frame = CACHE_NONE;
    for (uint32_t f = 0; f < answer->frame_count; f++)
        if (!add_frame(table, &answers->frames.data[answer->first_frame + f], span->frame, &span->frame))
            return false;
    return add_symbol(table, answer, &span->symbol);
}

ARRAY_TYPE(struct span_array, struct cache_span);

/* Merges the table's spans with `added` in ascending order, and drops spans of the table that overlap an added span. */
static bool merge_spans(struct cache_table *table, const struct span_array *added)
{
    struct span_array merged = {0};
    if (!array_reserve(&merged, table->spans.length + added->length))
        return false;
    size_t old = 0;
    for (size_t i = 0; i < added->length; i++) {
        const struct cache_span *span = &added->data[i];
        while (old < table->spans.length && table->spans.data[old].start < span->start) {
            const struct cache_span *earlier = &table->spans.data[old++];
            if (earlier->start + earlier->size <= span->start)
                merged.data[merged.length++] = *earlier;
        }
        while (old < table->spans.length && table->spans.data[old].start - span->start < span->size)
            old++;
        merged.data[merged.length++] = *span;
    }
    while (old < table->spans.length)
        merged.data[merged.length++] = table->spans.data[old++];
    array_free(&table->spans);
    table->spans.data = merged.data;
    table->spans.length = merged.length;
    table->spans.capacity = merged.capacity;
    return true;
}

/* Extends the last span if `span` follows it directly with the same answer. */
static bool extend_last_span(struct span_array *spans, const struct cache_span *span)
{
    struct cache_span *last = spans->length ? &spans->data[spans->length - 1] : NULL;
    if (!last || last->start + last->size != span->start || last->symbol != span->symbol || last->frame != span->frame)
        return false;
    last->size += span->size;
    return true;
}

bool cache_table_add(struct cache_table *table, const uint64_t *rvas, const uint32_t *sizes,
                     const struct symbol_answers *answers)
{
    struct span_array added = {0};
    bool complete = fill_indexes(table);
    for (size_t i = 0; complete && i < answers->count && cache_table_get_size(table) < CACHE_TABLE_MAX; i++) {
        uint32_t size = sizes ? sizes[i] : 1;
        if (size == 0 || rvas[i] >= UINT32_MAX - size)
            continue;
        struct cache_span span = {.start = (uint32_t)rvas[i], .size = size};
        complete = make_span(table, answers, i, &span) && (extend_last_span(&added, &span) || array_push(&added, span));
    }
    complete = complete && merge_spans(table, &added);
    array_free(&added);
    if (!complete) /* the indexes may refer to missing rows */
        cache_table_clear(table);
    return complete;
}
