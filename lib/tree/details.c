/*
 * Each stack is mapped to its "anchor": the stack (itself or a caller) whose frame is the selected node's frame; stacks
 * without the node have no anchor. The details sum the samples of all stacks that have an anchor. The sum uses the
 * stacks of the profile instead of the transformed stacks, because a transform may move a sample to another stack, but
 * the sample keeps its category.
 */
#include "tree/details.h"

#include "base/hash.h"
#include "base/search.h"
#include "tree/order.h"

#define NO_ANCHOR PROFILE_NONE

int func_inlining_compute(struct func_inlining *inlining, const struct profile *profile, struct error *err)
{
    enum { INLINED = 1, OWN = 2 };
    const struct frame_table *frames = &profile->frames;
    size_t count = profile->funcs.length;
    if (inlining->length || count == 0)
        return 0;
    if (!array_reserve(inlining, count))
        return error_no_memory(err);
    memset(inlining->data, 0, count);
    inlining->length = count;
    for (size_t i = 0; i < frames->length; i++)
        inlining->data[frames->func[i]] |= frames->inline_depth[i] ? INLINED : OWN;
    for (size_t i = 0; i < count; i++) {
        unsigned seen = inlining->data[i];
        inlining->data[i] = !(seen & INLINED) ? INLINED_NEVER : seen & OWN ? INLINED_SOMETIMES : INLINED_ALWAYS;
    }
    return 0;
}

static void set_anchors_below_node(uint32_t *anchor, const struct counted_stacks *counted, uint32_t node)
{
    const struct call_nodes *nodes = counted->nodes;
    for (uint32_t stack = 0; stack < counted->stacks->length; stack++) {
        uint32_t at = nodes->of_stack[stack];
        if (at == node)
            anchor[stack] = stack;
        else if (at != NODE_NONE && at > node && at < nodes->end[node])
            anchor[stack] = anchor[counted->stacks->prefix[stack]];
        else
            anchor[stack] = NO_ANCHOR;
    }
}

static void set_anchors_to_innermost_call(uint32_t *anchor, const struct stack_view *stacks, uint32_t func)
{
    for (uint32_t stack = 0; stack < stacks->length; stack++) {
        uint32_t caller = stacks->prefix[stack];
        uint32_t above = caller == PROFILE_NONE ? NO_ANCHOR : anchor[caller];
        anchor[stack] = stacks->func[stack] == func ? stack : above;
    }
}

static bool is_truncation(const struct profile *profile, uint32_t func)
{
    return func < profile->funcs.length &&
           strcmp(strings_text(&profile->strings, profile->funcs.name[func]), TRUNCATED_NAME) == 0;
}

static void mark_truncated(uint8_t *truncated, const struct profile *profile, const struct stack_view *stacks)
{
    for (uint32_t stack = 0; stack < stacks->length; stack++) {
        uint32_t caller = stacks->prefix[stack];
        truncated[stack] = caller == PROFILE_NONE ? is_truncation(profile, stacks->func[stack]) : truncated[caller];
    }
}

struct sums {
    uint8_t *truncated; /* for each stack of the view, whether its root is TRUNCATED_NAME */
    double *categories_total, *categories_self;
    struct hash line_index;
    size_t inlined, not_inlined;
    uint32_t symbol; /* the native symbol of the inlined frames read before */
    bool several_symbols;
};

static void add_inlining(struct sums *sums, const struct frame_table *frames, uint32_t frame)
{
    if (frames->inline_depth[frame] == 0) {
        sums->not_inlined++;
        return;
    }
    if (sums->inlined++ == 0)
        sums->symbol = frames->native_symbol[frame];
    else if (frames->native_symbol[frame] != sums->symbol)
        sums->several_symbols = true;
}

static bool add_line(struct node_details *details, struct sums *sums, uint32_t line, double weight, bool is_self)
{
    if (line == 0)
        return true;
    uint32_t *index = hash_at(&sums->line_index, line);
    if (!index)
        return false;
    if (*index == HASH_MISSING) {
        if (!array_push(&details->lines, (struct line_weight){.line = line}))
            return false;
        *index = (uint32_t)details->lines.length - 1;
    }
    details->lines.data[*index].total += weight;
    if (is_self)
        details->lines.data[*index].self += weight;
    return true;
}

static bool add_stacks(struct node_details *details, struct sums *sums, const struct profile *profile,
                       const struct counted_stacks *counted, const uint32_t *anchor)
{
    for (uint32_t stack = 0; stack < counted->stacks->length; stack++) {
        uint32_t leaf = stack_view_get_leaf(counted->stacks, stack);
        uint32_t at = leaf == PROFILE_NONE ? NO_ANCHOR : anchor[leaf];
        double weight = at == NO_ANCHOR ? 0 : counted_stacks_get_weight(counted, stack);
        if (weight == 0)
            continue;
        uint32_t frame = counted->stacks->frame[at];
        bool is_library = counted->stacks->func[at] >= profile->funcs.length;
        bool is_self = at == leaf;
        uint16_t category = counted->stacks->category[stack];
        sums->categories_total[category] += weight;
        details->truncated += sums->truncated[leaf] ? weight : 0;
        if (is_self)
            sums->categories_self[category] += weight;
        add_inlining(sums, &profile->frames, frame);
        if (!is_library && !add_line(details, sums, profile->frames.line[frame], weight, is_self))
            return false;
    }
    return true;
}

static int sort_categories(struct category_weights *out, const double *weights, uint32_t count, struct error *err)
{
    struct order_entry *entries = malloc((count + 1) * sizeof(*entries));
    if (!entries)
        return error_no_memory(err);
    size_t used = 0;
    for (uint32_t category = 0; category < count; category++)
        if (weights[category] != 0)
            entries[used++] = (struct order_entry){fabs(weights[category]), category};
    int code = order_sort_heaviest_first(entries, used, err);
    for (size_t i = 0; !code && i < used; i++)
        if (!array_push(out, (struct category_weight){entries[i].index, weights[entries[i].index]}))
            code = error_no_memory(err);
    free(entries);
    return code;
}

DEFINE_COMPARE(compare_lines, struct line_weight, ORDER_THEN(fabs(b->total), fabs(a->total), ORDER(a->line, b->line)))

static int fill_details(struct node_details *details, const struct sums *sums, const struct profile *profile,
                        uint32_t category_count, struct error *err)
{
    details->inlining = !sums->inlined ? INLINED_NEVER : sums->not_inlined ? INLINED_SOMETIMES : INLINED_ALWAYS;
    details->inlined_into = PROFILE_NONE;
    if (sums->inlined && !sums->several_symbols && sums->symbol < profile->native_symbols.length)
        details->inlined_into = profile->native_symbols.data[sums->symbol].name;
    array_sort(&details->lines, compare_lines);
    int code = sort_categories(&details->categories_total, sums->categories_total, category_count, err);
    return code ? code : sort_categories(&details->categories_self, sums->categories_self, category_count, err);
}

static int sum_details(struct node_details *details, const struct profile *profile,
                       const struct counted_stacks *counted, const uint32_t *anchor, struct error *err)
{
    uint32_t categories = counted->stacks->category_count;
    struct sums sums = {0};
    sums.categories_total = calloc(categories, sizeof(double));
    sums.categories_self = calloc(categories, sizeof(double));
    sums.truncated = calloc(counted->stacks->length + 1, 1);
    bool enough = sums.categories_total && sums.categories_self && sums.truncated;
    if (enough)
        mark_truncated(sums.truncated, profile, counted->stacks);
    enough = enough && add_stacks(details, &sums, profile, counted, anchor);
    int code = enough ? fill_details(details, &sums, profile, categories, err) : error_no_memory(err);
    free(sums.categories_total);
    free(sums.categories_self);
    free(sums.truncated);
    hash_destroy(&sums.line_index);
    return code;
}

int node_details_compute(struct node_details *details, const struct profile *profile,
                         const struct counted_stacks *counted, const struct details_subject *subject, struct error *err)
{
    const struct stack_view *stacks = counted->stacks;
    uint32_t *anchor = malloc((stacks->length + 1) * sizeof(*anchor));
    if (!anchor)
        return error_no_memory(err);
    for (uint32_t stack = 0; subject->path && stack < stacks->length; stack++)
        anchor[stack] = stack_view_find_above(stacks, stack, subject->path, subject->path_length);
    if (!subject->path && subject->node != NODE_NONE)
        set_anchors_below_node(anchor, counted, subject->node);
    else if (!subject->path)
        set_anchors_to_innermost_call(anchor, stacks, subject->func);
    int code = sum_details(details, profile, counted, anchor, err);
    free(anchor);
    return code;
}

void node_details_destroy(struct node_details *details)
{
    array_free(&details->categories_total);
    array_free(&details->categories_self);
    array_free(&details->lines);
}
