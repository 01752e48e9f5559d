#include "tree/path_pieces.h"

#include "base/search.h"

/* A recorded wait that stands for a part of the unseen time of its thread. The part starts at the end of the previous
 * part. */
struct stand_in {
    double until; /* ms of unseen time from the start of the thread to the end of the part */
    uint32_t stack;
};

struct unseen_time {
    struct thread_gaps gaps;
    double *before; /* for each gap, ms of unseen time before the gap */
    ARRAY(struct stand_in) stand_ins;
};

struct splitting {
    const struct profile *profile;
    struct path_pieces *pieces;
    struct unseen_time **of_thread; /* NULL if not needed yet */
    uint32_t runnable, not_seen;    /* reasons */
};

/* Subcategory 0 means that the kind of the wait, and so its object, are unknown. */
uint32_t find_path_object(const struct profile *profile, uint32_t stack)
{
    uint32_t frame = stack == PROFILE_NONE ? PROFILE_NONE : profile->stacks.frame[stack];
    return frame == PROFILE_NONE || profile->frames.subcategory[frame] == 0 ? PROFILE_NONE
                                                                            : profile->frames.func[frame];
}

static void unseen_time_free(struct unseen_time *unseen)
{
    if (!unseen)
        return;
    free(unseen->before);
    array_free(&unseen->stand_ins);
    free(unseen);
}

/* Sums the unseen time before each gap, and the weights of the waits that stand for it. False if memory ran out. */
static bool sum_unseen(struct unseen_time *unseen)
{
    const struct thread_gaps *gaps = &unseen->gaps;
    size_t count = gaps->samples->length;
    double total = 0, weights = 0;
    unseen->before = malloc((count + 1) * sizeof(*unseen->before));
    if (!unseen->before)
        return false;
    for (size_t i = 0; i < count; i++) {
        unseen->before[i] = total;
        if (!is_wait_end(&gaps->waits, i)) {
            total += measure_gap_in(gaps, i, whole_time).wait;
            continue;
        }
        double weight = measure_wait_in(gaps, i, whole_time).unseen;
        weights += weight;
        if (weight > 0 && !array_push(&unseen->stand_ins, (struct stand_in){weights, gaps->samples->stack[i]}))
            return false;
    }
    unseen->before[count] = total;                        /* the time after the last row has no stand-in */
    for (size_t i = 0; i < unseen->stand_ins.length; i++) /* the weights are rounded, and lack time of pauses */
        unseen->stand_ins.data[i].until *= weights > 0 ? total / weights : 0;
    return true;
}

static const struct unseen_time *find_unseen(struct splitting *splitting, uint32_t thread)
{
    struct unseen_time *unseen = splitting->of_thread[thread];
    if (unseen)
        return unseen;
    unseen = splitting->of_thread[thread] = calloc(1, sizeof(*unseen));
    if (!unseen)
        return NULL;
    unseen->gaps = find_sample_gaps(splitting->profile, thread);
    return sum_unseen(unseen) ? unseen : NULL;
}

/* Returns the ms of unseen time of a thread before a time in an unseen segment, which ends its gap. */
static double sum_unseen_before(const struct unseen_time *unseen, size_t gap, double time)
{
    double waited = measure_gap_in(&unseen->gaps, gap, whole_time).wait;
    return unseen->before[gap] + fmax(0, waited - (get_gap_end(&unseen->gaps, gap) - time));
}

static bool add_estimate(struct splitting *splitting, uint32_t segment, uint32_t stack, double ms)
{
    const struct profile *profile = splitting->profile;
    uint32_t reason = profile->frames.subcategory[profile->stacks.frame[stack]];
    struct path_piece piece = {ms, segment, PATH_WAITS, stack, true};
    if (reason == splitting->runnable)
        piece.state = PATH_RUNNABLE;
    else if (reason == splitting->not_seen || find_path_object(profile, stack) == PROFILE_NONE)
        piece.state = PATH_UNSEEN;
    return array_push(splitting->pieces, piece);
}

static bool split_unseen(struct splitting *splitting, const struct path_segment *segment, uint32_t number)
{
    const struct unseen_time *unseen = find_unseen(splitting, segment->thread);
    if (!unseen)
        return false;
    const struct sample_table *samples = unseen->gaps.samples;
    const struct stand_in *waits = unseen->stand_ins.data;
    size_t count = unseen->stand_ins.length;
    size_t gap = search_count(samples->time, samples->length, *element < segment->to);
    double length = segment->to - segment->from, left = length;
    double at = sum_unseen_before(unseen, gap, segment->to) - length;
    size_t i = search_count(waits, count, element->until < at);
    for (; i < count && left > 0; i++) {
        double ms = fmin(left, waits[i].until - at);
        if (ms > 0 && !add_estimate(splitting, number, waits[i].stack, ms))
            return false;
        at += fmax(0, ms);
        left -= fmax(0, ms);
    }
    const struct path_piece rest = {left, number, PATH_UNSEEN, PROFILE_NONE, true};
    return !(left > 0) || array_push(splitting->pieces, rest);
}

int path_pieces_make(struct path_pieces *pieces, const struct profile *profile, const struct critical_path *path,
                     struct error *err)
{
    size_t threads = profile->threads.length;
    struct splitting splitting = {.profile = profile,
                                  .pieces = pieces,
                                  .of_thread = calloc(threads + 1, sizeof(struct unseen_time *)),
                                  .runnable = find_runnable_reason(profile),
                                  .not_seen = find_wait_reason(profile, "Not seen")};
    bool enough = splitting.of_thread != NULL;
    pieces->length = 0;
    for (uint32_t i = 0; enough && i < path->length; i++) {
        const struct path_segment *segment = &path->data[i];
        const struct path_piece whole = {segment->to - segment->from, i, segment->state, segment->stack, false};
        enough = segment->state == PATH_UNSEEN ? split_unseen(&splitting, segment, i) : array_push(pieces, whole);
    }
    for (size_t i = 0; splitting.of_thread && i < threads; i++)
        unseen_time_free(splitting.of_thread[i]);
    free(splitting.of_thread);
    return enough ? 0 : error_no_memory(err);
}
