#include "tree/path_parts.h"

#include "base/path.h"
#include "base/search.h"
#include "base/utf8.h"
#include "tree/engine_state.h"
#include "tree/func_name.h"
#include "tree/order.h"
#include "tree/own_frame.h"
#include "tree/quantity.h"

/* ---- grouping ---- */

struct part_key {
    enum path_state state;
    uint32_t thread; /* string with its name; PROFILE_NONE: `first` */
    uint32_t object, waited_for;
};

struct grouping {
    const struct profile *profile;
    const struct path_segment *segments;
    const struct path_piece *pieces;
    uint32_t first;
};

static const struct path_segment *get_segment(const struct grouping *grouping, uint32_t piece)
{
    return &grouping->segments[grouping->pieces[piece].segment];
}

/* All runnable time is one part, and so is all unseen time and all absent time. */
static struct part_key make_part_key(const struct grouping *grouping, uint32_t number)
{
    const struct profile *profile = grouping->profile;
    const struct path_piece *piece = &grouping->pieces[number];
    const struct path_segment *segment = get_segment(grouping, number);
    struct part_key key = {piece->state, PROFILE_NONE, PROFILE_NONE, PROFILE_NONE};
    if (piece->state == PATH_WAITS)
        key.object = find_path_object(profile, piece->stack);
    if ((piece->state == PATH_WAITS || piece->state == PATH_RUNS) && segment->thread != grouping->first) {
        key.thread = profile->threads.data[segment->thread].name;
        key.waited_for = find_path_object(profile, segment->waited_for);
    }
    return key;
}

static int compare_pieces(const struct grouping *grouping, uint32_t a, uint32_t b)
{
    struct part_key key_a = make_part_key(grouping, a), key_b = make_part_key(grouping, b);
    return ORDER_THEN(key_a.state, key_b.state,
                      ORDER_THEN(key_a.thread, key_b.thread,
                                 ORDER_THEN(key_a.object, key_b.object, ORDER(key_a.waited_for, key_b.waited_for))));
}

static bool must_precede(const void *grouping, uint32_t a, uint32_t b)
{
    return compare_pieces(grouping, b, a) < 0;
}

static double get_segment_length(const struct path_segment *segment)
{
    return segment->to - segment->from;
}

/* Makes one part of pieces with equal keys. */
static struct path_part make_part(const struct grouping *grouping, const uint32_t *numbers, size_t count)
{
    uint32_t longest = numbers[0];
    struct path_part part = {.func = PROFILE_NONE, .waiter = PROFILE_NONE};
    double estimated = 0;
    for (size_t i = 0; i < count; i++) {
        const struct path_piece *piece = &grouping->pieces[numbers[i]];
        part.ms += piece->ms;
        estimated += piece->is_estimated && piece->state != PATH_UNSEEN ? piece->ms : 0;
        longest = piece->ms > grouping->pieces[longest].ms ? numbers[i] : longest;
    }
    const struct part_key key = make_part_key(grouping, longest);
    const struct path_segment *segment = get_segment(grouping, longest);
    part.is_estimated = estimated > part.ms / 100;
    part.state = key.state;
    part.thread = segment->thread;
    part.object = key.object;
    part.waited_for = key.waited_for;
    if (key.thread != PROFILE_NONE && segment->waited_for != PROFILE_NONE)
        part.waiter = segment->waiter;
    part.wakes_in = find_own_place(grouping->profile, part.waiter == PROFILE_NONE ? PROFILE_NONE : segment->wakes_in);
    return part;
}

/* ---- the func of a part ---- */

static uint32_t get_node(const struct call_nodes *nodes, uint32_t stack)
{
    return stack == PROFILE_NONE ? NODE_NONE : nodes->of_stack[stack];
}

/* Returns the stack of a piece without the frame of a wait's object. */
static uint32_t get_code_stack(const struct grouping *grouping, uint32_t number)
{
    const struct path_piece *piece = &grouping->pieces[number];
    bool has_object = piece->state == PATH_WAITS && piece->stack != PROFILE_NONE;
    return has_object ? grouping->profile->stacks.prefix[piece->stack] : piece->stack;
}

/* Returns a stack of the innermost node that more than half of a part was in; PROFILE_NONE: none. Such nodes are on one
 * line from a root, and callees have the larger numbers. */
static uint32_t find_stack(const struct call_nodes *nodes, const struct grouping *grouping, const uint32_t *numbers,
                           size_t count, double *totals)
{
    double half = 0;
    memset(totals, 0, nodes->length * sizeof(*totals));
    for (size_t i = 0; i < count; i++) {
        double ms = grouping->pieces[numbers[i]].ms;
        uint32_t node = get_node(nodes, get_code_stack(grouping, numbers[i]));
        half += ms / 2;
        if (node != NODE_NONE)
            totals[node] += ms;
    }
    for (size_t node = nodes->length; node-- > 0;)
        if (nodes->prefix[node] != NODE_NONE)
            totals[nodes->prefix[node]] += totals[node];
    size_t node = nodes->length;
    while (node > 0 && !(totals[node - 1] > half))
        node--;
    for (uint32_t stack = 0; node > 0 && stack < grouping->profile->stacks.length; stack++)
        if (nodes->of_stack[stack] == node - 1)
            return stack;
    return PROFILE_NONE;
}

static uint32_t find_func(const struct call_nodes *nodes, const struct grouping *grouping, const uint32_t *numbers,
                          size_t count, double *totals)
{
    return find_own_place(grouping->profile, find_stack(nodes, grouping, numbers, count, totals)).func;
}

struct ranged_part {
    struct path_part part;
    size_t first, count; /* of the sorted pieces */
};

DEFINE_MAGNITUDE(get_part_length, struct ranged_part, row->part.ms)

static int make_parts(const struct engine *engine, const struct grouping *grouping, const uint32_t *numbers,
                      size_t length, struct path_parts *parts, struct error *err)
{
    const struct call_nodes *nodes = &engine->base->whole_nodes;
    ARRAY(struct ranged_part) ranged = {0};
    double *totals = malloc((nodes->length + 1) * sizeof(*totals));
    bool enough = totals != NULL;
    for (size_t i = 0, end; enough && i < length; i = end) {
        for (end = i + 1; end < length && compare_pieces(grouping, numbers[i], numbers[end]) == 0;)
            end++;
        enough = array_push(&ranged, ((struct ranged_part){make_part(grouping, numbers + i, end - i), i, end - i}));
    }
    int code = enough ? 0 : error_no_memory(err);
    if (!code && ranged.length)
        code = order_sort_rows(ranged.data, sizeof(*ranged.data), ranged.length, get_part_length, err);
    for (size_t i = 0; !code && i < ranged.length; i++) {
        struct ranged_part *row = &ranged.data[i];
        if ((row->part.state == PATH_RUNS || row->part.state == PATH_WAITS) && i < PATH_PARTS_NAMED)
            row->part.func = find_func(nodes, grouping, numbers + row->first, row->count, totals);
        code = array_push(parts, row->part) ? 0 : error_no_memory(err);
    }
    free(totals);
    array_free(&ranged);
    return code;
}

int find_critical_path_parts(const struct engine *engine, const struct critical_path *path, uint32_t first,
                             struct path_parts *parts, struct error *err)
{
    struct path_pieces pieces = {0};
    uint32_t *numbers = NULL;
    parts->length = 0;
    int code = path_pieces_make(&pieces, engine_get_profile(engine), path, err);
    const struct grouping grouping = {engine_get_profile(engine), path->data, pieces.data, first};
    if (!code && !(numbers = malloc((pieces.length + 1) * sizeof(*numbers))))
        code = error_no_memory(err);
    for (uint32_t i = 0; !code && i < pieces.length; i++)
        numbers[i] = i;
    if (!code)
        code = order_sort_numbers(numbers, pieces.length, must_precede, &grouping, err);
    if (!code)
        code = make_parts(engine, &grouping, numbers, pieces.length, parts, err);
    free(numbers);
    array_free(&pieces);
    return code;
}

/* ---- the call tree ---- */

/* Returns the stack of the profile for which the call tree counts a piece. */
static uint32_t get_counted_stack(const struct engine *engine, const struct path_piece *piece)
{
    bool has_stack = piece->state == PATH_RUNS || piece->state == PATH_WAITS || piece->state == PATH_RUNNABLE;
    return has_stack && piece->stack != PROFILE_NONE ? piece->stack : engine->base->not_running;
}

int engine_list_slowest_ranges(const struct engine *engine, struct path_ranges *ranges, struct error *err)
{
    const struct sample_filter *filter = &engine->filter;
    for (uint32_t thread = 0; filter->times && thread < filter->thread_count; thread++)
        for (size_t i = 0; i < filter->times[thread].ranges.length; i++)
            if (!array_push(ranges, (struct path_range){thread, filter->times[thread].ranges.data[i]}))
                return error_no_memory(err);
    return 0;
}

int engine_weigh_path(struct engine *engine, const struct critical_path *path, struct error *err)
{
    struct path_pieces pieces = {0};
    struct stack_weights *weights = &engine->weights;
    const struct compared_request request = engine_get_compared_request(engine);
    int code = path_pieces_make(&pieces, engine_get_profile(engine), path, err);
    if (code) {
        array_free(&pieces);
        return code;
    }
    memset(weights->of_stack, 0, weights->length * sizeof(*weights->of_stack));
    if (weights->samples)
        memset(weights->samples, 0, weights->length * sizeof(*weights->samples));
    for (size_t i = 0; i < pieces.length; i++) {
        uint32_t stack = get_counted_stack(engine, &pieces.data[i]);
        if (stack >= weights->length)
            continue;
        weights->of_stack[stack] += pieces.data[i].ms;
        bool is_first = i == 0 || pieces.data[i - 1].segment != pieces.data[i].segment;
        if (weights->samples)
            weights->samples[stack] += is_first;
    }
    array_free(&pieces);
    engine->has_weights = engine->has_timings = false;
    return compute_compared_timings(&engine->timings, engine->nodes, weights, engine->sides,
                                    engine_get_matching_nodes(engine), &request, err);
}

/* ---- words ---- */

struct sentence {
    const struct profile *profile;
    struct text_buffer *text;
    bool is_out_of_memory;
};

static void append_text(struct sentence *sentence, const char *words)
{
    sentence->is_out_of_memory |= !text_append_z(sentence->text, words);
}

static void append_time(struct sentence *sentence, double ms)
{
    char text[QUANTITY_TEXT_MAX];
    format_time(text, ms);
    append_text(sentence, text);
}

static void append_func(struct sentence *sentence, uint32_t func)
{
    const char *name = profile_text(sentence->profile, sentence->profile->funcs.name[func]);
    sentence->is_out_of_memory |= !text_append_func_name(sentence->text, name);
}

static void append_object(struct sentence *sentence, uint32_t func)
{
    append_text(sentence, profile_text(sentence->profile, sentence->profile->funcs.name[func]));
}

static void append_thread(struct sentence *sentence, uint32_t thread)
{
    append_text(sentence, profile_thread_name(sentence->profile, thread));
}

/* Appends where a thread ends the wait: ", which ends in serve (cache.c:40)". */
static void append_end(struct sentence *sentence, struct own_place place)
{
    char line[96];
    if (place.func == PROFILE_NONE)
        return;
    append_text(sentence, ", which ends in ");
    append_func(sentence, place.func);
    struct func_names names = get_func_names(sentence->profile, place.func);
    if (!place.line || names.file == PROFILE_NONE)
        return;
    const char *file = path_get_base_name(profile_text(sentence->profile, names.file));
    snprintf(line, sizeof(line), " (%.*s:%u)", utf8_cut(file, 60), file, place.line);
    append_text(sentence, line);
}

static void append_in_func(struct sentence *sentence, const struct path_part *part)
{
    if (part->func == PROFILE_NONE)
        return;
    append_text(sentence, " in ");
    append_func(sentence, part->func);
}

static void append_cpu_time(struct sentence *sentence, const struct path_part *part, uint32_t first)
{
    append_text(sentence, part->thread == first ? "own CPU time" : "CPU time of ");
    if (part->thread != first)
        append_thread(sentence, part->thread);
    append_in_func(sentence, part);
}

static void append_wait(struct sentence *sentence, const struct path_part *part, uint32_t first)
{
    const struct profile *profile = sentence->profile;
    const char *object = part->object == PROFILE_NONE ? "" : profile_text(profile, profile->funcs.name[part->object]);
    bool sleeps = strcmp(object, "sleep") == 0;
    if (part->thread == first) {
        append_text(sentence, sleeps ? "sleeping" : "waiting");
    } else {
        append_text(sentence, "in which ");
        append_thread(sentence, part->thread);
        append_text(sentence, sleeps ? " sleeps" : " waits");
    }
    if (object[0] && !sleeps) {
        append_text(sentence, " (");
        append_text(sentence, object);
        append_text(sentence, ")");
    }
    append_in_func(sentence, part);
}

static void append_waiter_of_part(struct sentence *sentence, const struct path_part *part)
{
    if (part->waiter == PROFILE_NONE)
        return;
    const char *waiter = profile_thread_name(sentence->profile, part->waiter);
    bool has_same_name = strcmp(waiter, profile_thread_name(sentence->profile, part->thread)) == 0;
    append_text(sentence, has_same_name ? " while another " : " while ");
    append_text(sentence, waiter);
    append_text(sentence, " waits");
    if (part->waited_for == PROFILE_NONE)
        return;
    append_text(sentence, " for ");
    append_object(sentence, part->waited_for);
    append_end(sentence, part->wakes_in);
}

static void append_part(struct sentence *sentence, const struct path_part *part, uint32_t first)
{
    append_text(sentence, part->is_estimated ? "about " : "");
    append_time(sentence, part->ms);
    append_text(sentence, " ");
    switch (part->state) {
    case PATH_RUNS:
        append_cpu_time(sentence, part, first);
        break;
    case PATH_RUNNABLE:
        append_text(sentence, "runnable");
        break;
    case PATH_WAITS:
        append_wait(sentence, part, first);
        break;
    case PATH_UNSEEN:
        append_text(sentence, "in short waits, cause not seen");
        break;
    default:
        append_text(sentence, "outside of the lifetime of ");
        append_thread(sentence, part->thread);
    }
    append_waiter_of_part(sentence, part);
}

int path_parts_append_sentence(struct text_buffer *text, const struct engine *engine, const struct path_parts *parts,
                               uint32_t first, size_t most, struct error *err)
{
    struct sentence sentence = {engine_get_profile(engine), text, false};
    double total = 0, rest = 0;
    for (size_t i = 0; i < parts->length; i++) {
        total += parts->data[i].ms;
        rest += i < most ? 0 : parts->data[i].ms;
    }
    append_text(&sentence, "Of ");
    append_time(&sentence, total);
    for (size_t i = 0; i < parts->length && i < most; i++) {
        append_text(&sentence, ", ");
        append_part(&sentence, &parts->data[i], first);
    }
    if (rest > 0) {
        append_text(&sentence, ", ");
        append_time(&sentence, rest);
        append_text(&sentence, " in smaller parts");
    }
    append_text(&sentence, ".");
    return sentence.is_out_of_memory ? error_no_memory(err) : 0;
}

const char *get_path_state_name(enum path_state state)
{
    static const char *const names[PATH_STATES] = {[PATH_RUNS] = "runs",
                                                   [PATH_RUNNABLE] = "runnable",
                                                   [PATH_WAITS] = "waits",
                                                   [PATH_UNSEEN] = "unseen",
                                                   [PATH_ABSENT] = "absent"};
    return names[state];
}

/* ---- rows ---- */

static void append_stack(struct sentence *sentence, uint32_t stack)
{
    enum { MOST_CALLERS = 3, MOST_NAME = 80 };
    const struct profile *profile = sentence->profile;
    for (int i = 0; i < MOST_CALLERS && stack != PROFILE_NONE; i++, stack = profile->stacks.prefix[stack]) {
        const char *name =
            profile_text(profile, profile->funcs.name[profile->frames.func[profile->stacks.frame[stack]]]);
        append_text(sentence, i ? " < " : "");
        sentence->is_out_of_memory |= !text_append(sentence->text, name, strnlen(name, MOST_NAME));
    }
}

static void append_waiter(struct sentence *sentence, const struct path_segment *segment)
{
    uint32_t object = find_path_object(sentence->profile, segment->waited_for);
    if (segment->waited_for == PROFILE_NONE)
        append_text(sentence, "creates ");
    append_thread(sentence, segment->waiter);
    if (segment->waited_for == PROFILE_NONE)
        return;
    append_text(sentence, object == PROFILE_NONE ? " waits" : " waits for ");
    if (object == PROFILE_NONE)
        return;
    append_object(sentence, object);
    append_end(sentence, find_own_place(sentence->profile, segment->wakes_in));
}

int path_segment_append_text(struct text_buffer *text, const struct profile *profile,
                             const struct path_segment *segment, struct error *err)
{
    struct sentence sentence = {profile, text, false};
    bool has_waker = segment->state == PATH_WAITS && segment->waker != PROFILE_NONE;
    bool has_waiter = segment->state == PATH_RUNS && segment->waiter != PROFILE_NONE;
    append_stack(&sentence, segment->stack);
    if (segment->stack != PROFILE_NONE && (has_waker || has_waiter))
        append_text(&sentence, ", ");
    if (has_waker) {
        append_text(&sentence, "ended by ");
        append_text(&sentence, profile_text(profile, segment->waker));
    }
    if (has_waiter)
        append_waiter(&sentence, segment);
    return sentence.is_out_of_memory ? error_no_memory(err) : 0;
}

static uint32_t get_leaf_func(const struct profile *profile, const struct path_segment *segment)
{
    return segment->stack == PROFILE_NONE ? PROFILE_NONE : profile->frames.func[profile->stacks.frame[segment->stack]];
}

/* Returns the leaf func of most segments of a state, by time, if it has more than half of the time (Boyer and Moore).
 */
static uint32_t find_majority(const struct profile *profile, const struct critical_path *path, size_t first, size_t end,
                              enum path_state state)
{
    uint32_t func = PROFILE_NONE;
    double lead = 0;
    for (size_t i = first; i < end; i++) {
        double ms = path->data[i].state == state ? get_segment_length(&path->data[i]) : 0;
        uint32_t other = get_leaf_func(profile, &path->data[i]);
        bool is_next = other != func && ms > lead;
        lead = other == func ? lead + ms : fabs(lead - ms);
        func = is_next ? other : func;
    }
    return func;
}

const struct path_segment *find_row_segment(const struct profile *profile, const struct critical_path *path,
                                            size_t first, size_t end)
{
    const struct path_segment *longest = &path->data[first], *of_majority = NULL;
    for (size_t i = first; i < end; i++)
        if (get_segment_length(&path->data[i]) > get_segment_length(longest))
            longest = &path->data[i];
    uint32_t func = find_majority(profile, path, first, end, longest->state);
    double lead = 0; /* of `func` over the leaf func of the longest segment */
    for (size_t i = first; i < end; i++) {
        const struct path_segment *segment = &path->data[i];
        uint32_t leaf = segment->state == longest->state ? get_leaf_func(profile, segment) : PROFILE_NONE;
        if (leaf == get_leaf_func(profile, longest))
            lead -= get_segment_length(segment);
        else if (leaf == func && (!of_majority || get_segment_length(segment) > get_segment_length(of_majority)))
            of_majority = segment;
        lead += leaf == func ? get_segment_length(segment) : 0;
    }
    return of_majority && lead > 0 ? of_majority : longest;
}

static bool is_same_visit(const struct path_segment *a, const struct path_segment *b)
{
    return a->thread == b->thread && a->waiter == b->waiter && a->waited_for == b->waited_for;
}

size_t find_row_end(const struct profile *profile, const struct critical_path *path, size_t i)
{
    double brief = profile->meta.interval / 2;
    enum path_state state = PATH_STATES; /* state of the longer segments; PATH_STATES: none yet */
    size_t end = i;
    for (; end < path->length && is_same_visit(&path->data[i], &path->data[end]); end++) {
        const struct path_segment *segment = &path->data[end];
        if (get_segment_length(segment) < brief && segment->state != PATH_RUNS)
            continue;
        if (state != PATH_STATES && (segment->state != state || state == PATH_WAITS))
            break;
        state = segment->state;
    }
    return end > i ? end : i + 1;
}
