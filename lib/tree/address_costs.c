#include "tree/address_costs.h"

#include "base/search.h"

/* ---- addresses ---- */

static bool is_in_symbol(const struct profile *profile, const struct counted_stacks *counted, uint32_t stack,
                         uint32_t symbol)
{
    uint32_t frame = counted->stacks->frame[stack];
    return counted->nodes->of_stack[stack] != NODE_NONE && counted->stacks->func[stack] < profile->funcs.length &&
           symbol < profile->native_symbols.length && profile->frames.native_symbol[frame] == symbol &&
           profile->frames.address[frame] >= 0;
}

/* Returns the start of the instruction that contains the address; the address itself if the start is unknown. */
static int64_t find_instruction(int64_t address, int64_t base, const struct address_request *request)
{
    int64_t offset = address - base;
    size_t next = search_count(request->starts, request->start_count, *element <= offset);
    return next > 0 ? base + request->starts[next - 1] : address;
}

static bool set_stack_locations(uint32_t *of_stack, struct location_numbers *addresses, const struct profile *profile,
                                const struct counted_stacks *counted, const struct address_request *request)
{
    for (uint32_t stack = 0; stack < counted->stacks->length; stack++) {
        of_stack[stack] = PROFILE_NONE;
        if (!is_in_symbol(profile, counted, stack, request->symbol))
            continue;
        int64_t address = profile->frames.address[counted->stacks->frame[stack]];
        int64_t base = profile->native_symbols.data[request->symbol].address;
        if (request->start_count)
            address = find_instruction(address, base, request);
        of_stack[stack] = number_location(addresses, (uint64_t)address);
        if (of_stack[stack] == PROFILE_NONE)
            return false;
    }
    return true;
}

DEFINE_COMPARE(compare_addresses, struct address_cost, ORDER(a->address, b->address))

int address_costs_compute(struct address_costs *costs, const struct profile *profile,
                          const struct counted_stacks *counted, const struct address_request *request,
                          struct error *err)
{
    uint32_t *of_stack = malloc((counted->stacks->length + 1) * sizeof(*of_stack));
    struct location_numbers addresses = {0};
    struct location_costs sums = {0};
    bool enough = of_stack && set_stack_locations(of_stack, &addresses, profile, counted, request);
    struct location_request places = {of_stack, (uint32_t)addresses.values.length, false, request->selection};
    int code = enough ? location_costs_sum(&sums, counted, &places, err) : error_no_memory(err);
    for (size_t i = 0; !code && i < addresses.values.length; i++) {
        struct address_cost row = {(int64_t)addresses.values.data[i], sums.total[i], sums.self[i]};
        if (!array_push(&costs->rows, row))
            code = error_no_memory(err);
    }
    array_sort(&costs->rows, compare_addresses);
    costs->total = sums.any_total;
    costs->self = sums.any_self;
    location_costs_destroy(&sums);
    location_numbers_destroy(&addresses);
    free(of_stack);
    return code;
}

void address_costs_destroy(struct address_costs *costs)
{
    array_free(&costs->rows);
    *costs = (struct address_costs){0};
}

/* ---- symbols ---- */

DEFINE_COMPARE(compare_symbols, struct symbol_cost,
               ORDER_THEN(fabs(b->total), fabs(a->total), ORDER(a->symbol, b->symbol)))

static int collect_symbols(struct symbol_costs *costs, const struct location_costs *sums, const uint8_t *is_seen,
                           uint32_t count, struct error *err)
{
    for (uint32_t symbol = 0; symbol < count; symbol++)
        if (is_seen[symbol] &&
            !array_push(costs, (struct symbol_cost){symbol, sums->total[symbol], sums->self[symbol]}))
            return error_no_memory(err);
    array_sort(costs, compare_symbols);
    return 0;
}

int symbol_costs_compute(struct symbol_costs *costs, const struct profile *profile,
                         const struct counted_stacks *counted, uint32_t func, struct frame_selection selection,
                         struct error *err)
{
    uint32_t count = (uint32_t)profile->native_symbols.length;
    uint32_t *of_stack = malloc((counted->stacks->length + 1) * sizeof(*of_stack));
    uint8_t *is_seen = calloc((size_t)count + 1, sizeof(*is_seen));
    struct location_costs sums = {0};
    costs->length = 0;
    int code = of_stack && is_seen ? 0 : error_no_memory(err);
    for (size_t stack = 0; !code && stack < counted->stacks->length; stack++) {
        bool is_of_func = counted->nodes->of_stack[stack] != NODE_NONE && counted->stacks->func[stack] == func;
        uint32_t symbol = profile->frames.native_symbol[counted->stacks->frame[stack]];
        of_stack[stack] = is_of_func && symbol < count ? symbol : PROFILE_NONE;
        if (of_stack[stack] != PROFILE_NONE)
            is_seen[symbol] = 1;
    }
    struct location_request request = {of_stack, count, false, selection};
    if (!code)
        code = location_costs_sum(&sums, counted, &request, err);
    if (!code)
        code = collect_symbols(costs, &sums, is_seen, count, err);
    location_costs_destroy(&sums);
    free(of_stack);
    free(is_seen);
    return code;
}

/* ---- lines ---- */

DEFINE_COMPARE(compare_address_lines, struct address_line,
               ORDER_THEN(a->address, b->address,
                          ORDER_THEN(a->depth, b->depth, ORDER_THEN(a->func, b->func, ORDER(a->line, b->line)))))

static void remove_duplicates(struct address_lines *lines)
{
    size_t kept = 0;
    for (size_t i = 0; i < lines->length; i++)
        if (kept == 0 || compare_address_lines(&lines->data[kept - 1], &lines->data[i]) != 0)
            lines->data[kept++] = lines->data[i];
    lines->length = kept;
}

int list_address_lines(struct address_lines *lines, const struct profile *profile, uint32_t symbol, struct error *err)
{
    const struct frame_table *frames = &profile->frames;
    lines->length = 0;
    for (size_t frame = 0; symbol < profile->native_symbols.length && frame < frames->length; frame++) {
        uint32_t func = frames->func[frame];
        struct address_line row = {frames->address[frame], frames->inline_depth[frame], func,
                                   profile->funcs.source[func], frames->line[frame]};
        if (frames->native_symbol[frame] == symbol && row.address >= 0 && !array_push(lines, row))
            return error_no_memory(err);
    }
    array_sort(lines, compare_address_lines);
    remove_duplicates(lines);
    return 0;
}
