/*
 * Any bytes as a profile whose flame graph and stack charts are asked for: the first three bytes say which part of
 * them. Whatever the profile is, boxes lie where they may lie.
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
    struct flame_boxes boxes = {0};
    struct error err;
    if (engine_flame(engine, &request, &boxes, &err))
        abort();
    for (size_t i = 0; i < boxes.length; i++) {
        const struct flame_box *box = &boxes.data[i];
        if (!(box->end - box->start >= least) || !(box->end > 0) || !(box->start < 1))
            abort();
        if (box->depth == 0 ? box->parent != FLAME_NO_BOX : box->parent >= i)
            abort();
        if (box->depth && boxes.data[box->parent].depth + 1 != box->depth)
            abort();
    }
    array_free(&boxes);
}

static void check_stack_chart(struct engine *engine, uint32_t thread, uint32_t columns, bool same_widths)
{
    struct stack_chart_request request = {
        .thread = thread, .range = engine_full_range(engine), .columns = columns, .same_widths = same_widths};
    struct stack_boxes boxes = {0};
    struct error err;
    if (engine_stack_chart(engine, &request, &boxes, &err))
        abort();
    for (size_t i = 0; i < boxes.length; i++) {
        const struct stack_box *box = &boxes.data[i];
        if (box->start >= box->end || box->end > columns)
            abort();
        if (box->parent != STACK_NO_BOX && (box->parent >= i || boxes.data[box->parent].depth + 1 != box->depth))
            abort();
    }
    array_free(&boxes);
}

static void check_charts(struct engine *engine, const uint8_t *choices)
{
    uint32_t threads = (uint32_t)engine_profile(engine)->threads.length;
    struct error err;
    for (uint32_t inverted = 0; inverted < 2; inverted++) {
        uint32_t thread = choices[2] % (threads + 1);
        struct tree_query query = {.threads = &thread,
                                   .thread_count = 1,
                                   .range = whole_time,
                                   .search = "a",
                                   .search_length = choices[2] >> 7,
                                   .inverted = inverted};
        if (engine_query(engine, &query, &err))
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
