/*
 * Any bytes as the file of a cached library. A file with a wrong checksum is rejected at once, so the fuzzer computes
 * the right one first, as a hostile writer would. It reads every answer of the table, adds to the table and writes it
 * again.
 */
#include "base/checksum.h"
#include "symbol/cache_table.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { CHECKSUM_AT = 8, CHECKED_FROM = 16 };

static size_t read_all_of(const struct symbol_answers *answers, const struct symbol_answer *answer)
{
    size_t length = answer->symbol ? strlen(answer->symbol) : 0;
    for (uint32_t i = 0; i < answer->frame_count; i++) {
        const struct symbol_frame *frame = &answers->frames.data[answer->first_frame + i];
        length += (frame->function ? strlen(frame->function) : 0) + (frame->file ? strlen(frame->file) : 0);
    }
    return length;
}

/* Takes the answers out of one table and adds them to another: it must say the same. */
static void check_copy(const struct cache_table *table)
{
    enum { MOST = 64 };
    struct symbol_answer list[MOST];
    struct symbol_answers answers = {.answers = list};
    struct cache_texts texts = {0}, copy_texts = {0};
    struct cache_table copy = {0};
    uint64_t rvas[MOST];
    uint32_t sizes[MOST];
    size_t length = 0;
    for (uint32_t i = 0; i < table->spans.length && answers.count < MOST; i++) {
        const struct cache_span *span = &table->spans.data[i];
        if (cache_table_find(table, span->start) != i || cache_table_find(table, span->start + span->size - 1) != i)
            abort();
        rvas[answers.count] = span->start;
        sizes[answers.count] = span->size;
        if (!cache_table_append_answer(table, i, &answers, &list[answers.count], &texts))
            abort();
        length += read_all_of(&answers, &list[answers.count++]);
    }
    if (!cache_table_add(&copy, rvas, sizes, &answers))
        abort();
    for (size_t i = 0; i < copy.spans.length; i++) {
        struct symbol_answer again;
        if (!cache_table_append_answer(&copy, (uint32_t)i, &answers, &again, &copy_texts))
            abort();
        length -= read_all_of(&answers, &again);
    }
    if (copy.spans.length == answers.count && length != 0)
        abort();
    cache_table_destroy(&copy);
    cache_texts_destroy(&texts);
    cache_texts_destroy(&copy_texts);
    array_free(&answers.frames);
    arena_destroy(&answers.arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cache_table table = {0};
    unsigned char *bytes = malloc(size + 1);
    if (!bytes)
        return 0;
    memcpy(bytes, data, size);
    if (size >= CHECKED_FROM) {
        uint64_t checksum = checksum_bytes(bytes + CHECKED_FROM, size - CHECKED_FROM);
        memcpy(bytes + CHECKSUM_AT, &checksum, sizeof(checksum));
    }
    if (cache_table_decode(&table, bytes, size) == 0) {
        size_t written;
        unsigned char *again = cache_table_encode(&table, &written);
        if (!again || written != size)
            abort();
        free(again);
        check_copy(&table);
        cache_table_destroy(&table);
    } else if (table.spans.data || table.texts.data) {
        abort();
    }
    free(bytes);
    return 0;
}
