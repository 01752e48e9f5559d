/*
 * Any bytes as a profile whose flame graph and stack charts are computed: the first three bytes choose the part. For
 * every profile, rects lie within valid bounds.
 */
#include "support/profile_text.h"
#include "tree/flame.h"
#include "tree/stack_chart.h"

#include <math.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

enum { CHOICES = 3 };

static void check_flame(struct engine *engine, double from, double least)
{
    struct flame_request request = {.part = {from, 1}, .least = least};
    struct flame_rects rects = {0};
    struct error err;
    if (engine_compute_flame(engine, &request, &rects, &err))
        abort();
    for (size_t i = 0; i < rects.length; i++) {
        const struct flame_rect *rect = &rects.data[i];
        if (!(rect->end - rect->start >= least) || !(rect->end > 0) || !(rect->start < 1))
            abort();
        if (rect->depth == 0 ? rect->parent != FLAME_NO_RECT : rect->parent >= i)
            abort();
        if (rect->depth && rects.data[rect->parent].depth + 1 != rect->depth)
            abort();
    }
    array_free(&rects);
}

static void check_stack_chart(struct engine *engine, uint32_t thread, uint32_t columns, bool same_widths)
{
    struct stack_chart_request request = {
        .thread = thread, .range = engine_get_full_range(engine), .columns = columns, .same_widths = same_widths};
    struct stack_rects rects = {0};
    struct error err;
    if (engine_compute_stack_chart(engine, &request, &rects, &err))
        abort();
    for (size_t i = 0; i < rects.length; i++) {
        const struct stack_rect *rect = &rects.data[i];
        if (rect->start >= rect->end || rect->end > columns)
            abort();
        if (rect->parent != STACK_NO_RECT && (rect->parent >= i || rects.data[rect->parent].depth + 1 != rect->depth))
            abort();
    }
    array_free(&rects);
}

static void check_charts(struct engine *engine, const uint8_t *choices)
{
    uint32_t threads = (uint32_t)engine_get_profile(engine)->threads.length;
    struct error err;
    for (uint32_t inverted = 0; inverted < 2; inverted++) {
        uint32_t thread = choices[2] % (threads + 1);
        struct tree_query query = {.threads = &thread,
                                   .thread_count = 1,
                                   .range = whole_time,
                                   .search = "a",
                                   .search_length = choices[2] >> 7,
                                   .inverted = inverted};
        if (engine_set_query(engine, &query, &err))
            abort();
        check_flame(engine, choices[0] / 256.0, choices[1] / 512.0);
    }
    for (uint32_t thread = 0; thread < threads; thread++)
        check_stack_chart(engine, thread, choices[0] + 1U, choices[1] & 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    if (size < CHOICES)
        return 0;
    struct profile profile = {0};
    struct error err = {""};
    if (read_bytes((const char *)bytes + CHOICES, size - CHOICES, 4096, &profile, &err))
        return 0;
    struct engine *engine = engine_new(&profile, &err);
    if (!engine)
        abort();
    check_charts(engine, bytes);
    engine_free(engine);
    return 0;
}
