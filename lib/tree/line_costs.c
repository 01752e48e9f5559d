#include "tree/line_costs.h"

#include "base/search.h"
#include "tree/order.h"

/* ---- stacks with a line of the file ---- */

struct file_stacks {
    const struct profile *profile;
    const struct counted_stacks *counted;
    const struct line_request *request;
};

static bool is_in_file(const struct file_stacks *file, uint32_t stack)
{
    uint32_t func = file->counted->stacks->func[stack];
    return file->counted->nodes->of_stack[stack] != NODE_NONE && func < file->profile->funcs.length &&
           file->request->source < file->profile->sources.length &&
           file->profile->funcs.source[func] == file->request->source &&
           (file->request->func == PROFILE_NONE || file->request->func == func);
}

static uint32_t get_stack_line(const struct file_stacks *file, uint32_t stack)
{
    return file->profile->frames.line[file->counted->stacks->frame[stack]];
}

/* Whether the frame is a call inlined into the frame of its prefix. */
static bool is_inlined_call(const struct file_stacks *file, uint32_t stack, uint32_t prefix)
{
    const struct frame_table *frames = &file->profile->frames;
    uint32_t callee = file->counted->stacks->frame[stack], caller = file->counted->stacks->frame[prefix];
    return frames->inline_depth[callee] > frames->inline_depth[caller] && frames->address[callee] >= 0 &&
           frames->address[callee] == frames->address[caller] && frames->lib[callee] == frames->lib[caller];
}

/* Finds the line of a stack, or the line and func of an inlined call. Returns false if the stack has no such line. */
static bool find_line_or_call(const struct file_stacks *file, uint32_t stack, bool are_calls, uint64_t *value)
{
    if (!are_calls) {
        *value = is_in_file(file, stack) ? get_stack_line(file, stack) : 0;
        return is_in_file(file, stack);
    }
    uint32_t prefix = file->counted->stacks->prefix[stack];
    bool is_call = prefix != PROFILE_NONE && file->counted->nodes->of_stack[stack] != NODE_NONE &&
                   is_in_file(file, prefix) && is_inlined_call(file, stack, prefix);
    *value = is_call ? (uint64_t)get_stack_line(file, prefix) << 32 | file->counted->stacks->func[stack] : 0;
    return is_call;
}

/* Sums the costs of lines or of inlined calls, as numbers->values selects. */
static int sum_values(struct location_costs *costs, struct location_numbers *numbers, const struct file_stacks *file,
                      bool are_calls, struct error *err)
{
    size_t length = file->counted->stacks->length;
    uint32_t *of_stack = malloc((length + 1) * sizeof(*of_stack));
    bool enough = of_stack != NULL;
    for (uint32_t stack = 0; enough && stack < length; stack++) {
        uint64_t value;
        bool has_value = find_line_or_call(file, stack, are_calls, &value);
        of_stack[stack] = has_value ? number_location(numbers, value) : PROFILE_NONE;
        enough = !has_value || of_stack[stack] != PROFILE_NONE;
    }
    struct location_request request = {of_stack, (uint32_t)numbers->values.length, are_calls, file->request->selection};
    int code = enough ? 0 : error_no_memory(err);
    if (!code && request.count)
        code = location_costs_sum(costs, file->counted, &request, err);
    free(of_stack);
    return code;
}

/* ---- lines ---- */

DEFINE_COMPARE(compare_lines, struct line_cost, ORDER(a->line, b->line))

static int sum_lines(struct line_costs *out, const struct file_stacks *file, struct error *err)
{
    struct location_numbers lines = {0};
    struct location_costs costs = {0};
    int code = sum_values(&costs, &lines, file, false, err);
    for (size_t i = 0; !code && i < lines.values.length; i++)
        if (!array_push(&out->lines, (struct line_cost){(uint32_t)lines.values.data[i], costs.total[i], costs.self[i]}))
            code = error_no_memory(err);
    array_sort(&out->lines, compare_lines);
    out->total = costs.any_total;
    out->self = costs.any_self;
    location_costs_destroy(&costs);
    location_numbers_destroy(&lines);
    return code;
}

DEFINE_COMPARE(compare_calls, struct inlined_cost,
               ORDER_THEN(a->line, b->line, ORDER_THEN(fabs(b->total), fabs(a->total), ORDER(a->func, b->func))))

static int sum_inlined(struct line_costs *out, const struct file_stacks *file, struct error *err)
{
    struct location_numbers calls = {0};
    struct location_costs costs = {0};
    int code = sum_values(&costs, &calls, file, true, err);
    for (size_t i = 0; !code && i < calls.values.length; i++) {
        uint64_t call = calls.values.data[i];
        struct inlined_cost row = {(uint32_t)(call >> 32), (uint32_t)call, costs.total[i]};
        if (row.total != 0 && !array_push(&out->inlined, row))
            code = error_no_memory(err);
    }
    array_sort(&out->inlined, compare_calls);
    location_costs_destroy(&costs);
    location_numbers_destroy(&calls);
    return code;
}

int line_costs_compute(struct line_costs *costs, const struct profile *profile, const struct counted_stacks *counted,
                       const struct line_request *request, struct error *err)
{
    struct file_stacks file = {profile, counted, request};
    int code = sum_lines(costs, &file, err);
    return code ? code : sum_inlined(costs, &file, err);
}

void line_costs_destroy(struct line_costs *costs)
{
    array_free(&costs->lines);
    array_free(&costs->inlined);
    *costs = (struct line_costs){0};
}

/* ---- the hottest lines of all files ---- */

/* The self times of lines, and of pairs of a line and a func, by number. */
struct line_sums {
    struct location_numbers lines, pairs;
    ARRAY(double) of_line, of_pair; /* self */
    ARRAY(uint32_t) heaviest;       /* of each line: its pair */
};

static bool add_to_sums(struct line_sums *sums, uint64_t place, uint32_t func, double weight)
{
    uint32_t line = number_location(&sums->lines, place);
    uint32_t pair = line == PROFILE_NONE ? line : number_location(&sums->pairs, (uint64_t)line << 32 | func);
    if (pair == PROFILE_NONE || (pair == sums->of_pair.length && !array_push(&sums->of_pair, 0)) ||
        (line == sums->of_line.length && (!array_push(&sums->of_line, 0) || !array_push(&sums->heaviest, pair))))
        return false;
    sums->of_line.data[line] += weight;
    sums->of_pair.data[pair] += weight;
    return true;
}

/* Sums the samples whose leaf has a line; *known becomes the sum over all lines. */
static int sum_leaves(struct line_sums *sums, const struct profile *profile, const struct counted_stacks *counted,
                      double *known, struct error *err)
{
    for (uint32_t stack = 0; stack < counted->stacks->length; stack++) {
        double weight = counted_stacks_get_weight(counted, stack);
        if (weight == 0)
            continue;
        uint32_t leaf = stack_view_get_leaf(counted->stacks, stack), func = counted->stacks->func[leaf];
        uint32_t source = func < profile->funcs.length ? profile->funcs.source[func] : PROFILE_NONE;
        uint32_t line = profile->frames.line[counted->stacks->frame[leaf]];
        if (source >= profile->sources.length || line == 0)
            continue;
        if (!add_to_sums(sums, (uint64_t)source << 32 | line, func, weight))
            return error_no_memory(err);
        *known += weight;
    }
    for (uint32_t pair = 0; pair < sums->of_pair.length; pair++) {
        uint32_t *heaviest = &sums->heaviest.data[sums->pairs.values.data[pair] >> 32];
        if (fabs(sums->of_pair.data[pair]) > fabs(sums->of_pair.data[*heaviest]))
            *heaviest = pair;
    }
    return 0;
}

/* Takes the heaviest lines. */
static int rank_lines(struct hot_lines *hot, const struct line_sums *sums, size_t limit, struct error *err)
{
    size_t length = sums->of_line.length;
    struct order_entry *order = malloc((length + 1) * sizeof(*order));
    if (!order)
        return error_no_memory(err);
    for (uint32_t line = 0; line < length; line++)
        order[line] = (struct order_entry){fabs(sums->of_line.data[line]), line};
    int code = order_sort_heaviest_first(order, length, err);
    for (size_t i = 0; !code && i < length && i < limit && order[i].magnitude > 0; i++) {
        uint32_t line = order[i].index;
        uint32_t func = (uint32_t)sums->pairs.values.data[sums->heaviest.data[line]];
        struct hot_line row = {func, (uint32_t)sums->lines.values.data[line], sums->of_line.data[line]};
        if (!array_push(&hot->rows, row))
            code = error_no_memory(err);
    }
    free(order);
    return code;
}

int hot_lines_compute(struct hot_lines *hot, const struct profile *profile, const struct counted_stacks *counted,
                      size_t limit, struct error *err)
{
    struct line_sums sums = {0};
    int code = sum_leaves(&sums, profile, counted, &hot->known, err);
    if (!code)
        code = rank_lines(hot, &sums, limit, err);
    location_numbers_destroy(&sums.lines);
    location_numbers_destroy(&sums.pairs);
    array_free(&sums.of_line);
    array_free(&sums.of_pair);
    array_free(&sums.heaviest);
    return code;
}

void hot_lines_destroy(struct hot_lines *hot)
{
    array_free(&hot->rows);
    *hot = (struct hot_lines){0};
}

/* ---- the library to request a source file from ---- */

static bool has_library(const struct code_addresses *places, uint32_t lib)
{
    for (size_t i = 0; i < places->length; i++)
        if (places->data[i].lib == lib)
            return true;
    return false;
}

int list_source_places(struct code_addresses *places, const struct profile *profile, uint32_t source, size_t limit,
                       struct error *err)
{
    const struct frame_table *frames = &profile->frames;
    places->length = 0;
    for (size_t frame = 0; source < profile->sources.length && frame < frames->length && places->length < limit;
         frame++) {
        struct code_address place = {frames->lib[frame], frames->address[frame]};
        if (profile->funcs.source[frames->func[frame]] != source || place.address < 0 ||
            place.lib >= profile->libs.length || has_library(places, place.lib))
            continue;
        if (!array_push(places, place))
            return error_no_memory(err);
    }
    return 0;
}
