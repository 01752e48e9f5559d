#include "tree/object_waits.h"

#include "base/json_write.h"
#include "base/search.h"
#include "tree/engine_state.h"
#include "tree/order.h"
#include "tree/path_pieces.h"
#include "tree/wait_json.h"
#include "tree/wait_names.h"
#include "tree/wait_parts.h"

/* A wait for the object. */
struct object_wait {
    struct wait_part part;
    struct call_site waits_at, ended_at;
    uint32_t thread;
    double held; /* ms */
};

struct collector {
    const struct engine *engine;
    struct object_waits *waits;
    ARRAY(struct object_wait) list;
    uint32_t *numbers; /* indexes of `list`, in the order of the last sort */
    uint32_t thread;
    bool has_wakers;
};

/* ---- the waits ---- */

/* Divides `ms` of waiting between the steps that overlap [from, to], in proportion to the overlaps. */
static void add_waiting(struct object_waits *waits, double from, double to, double ms)
{
    double step = (waits->range.to - waits->range.from) / OBJECT_WAITS_STEPS;
    double first = fmax(from, waits->range.from), last = fmin(to, waits->range.to);
    if (!(last > first))
        return;
    for (size_t i = (size_t)fmin((first - waits->range.from) / step, OBJECT_WAITS_STEPS - 1); i < OBJECT_WAITS_STEPS;
         i++) {
        double start = waits->range.from + (double)i * step, end = start + step;
        if (start >= last)
            break;
        waits->waiting[i] += ms * fmax(0, fmin(end, last) - fmax(start, first)) / (last - first) / step;
    }
}

static double estimate_count(const struct wait_part *part)
{
    return (part->longest > 0) + part->unseen;
}

static bool collect(void *context, const struct wait_part *part)
{
    struct collector *collector = context;
    struct object_waits *waits = collector->waits;
    const struct profile *profile = engine_get_profile(collector->engine);
    if (find_path_object(profile, part->stack) != waits->object)
        return true;
    double unseen = part->ms - part->longest;
    if (part->longest >= waits->longest)
        waits->reason = profile->frames.subcategory[profile->stacks.frame[part->stack]];
    waits->total += part->ms;
    waits->count += estimate_count(part);
    waits->longest = fmax(waits->longest, part->longest);
    collector->has_wakers |= part->waker != PROFILE_NONE;
    waits->is_estimated |= unseen > part->ms / 100;
    add_waiting(waits, part->time.from, part->time.to, part->longest);
    add_waiting(waits, part->time.to - fmin(unseen, wait_weight_spread), part->time.to, unseen);
    return array_push(&collector->list, ((struct object_wait){.part = *part, .thread = collector->thread}));
}

static int collect_all(struct collector *collector, struct error *err)
{
    const struct engine *engine = collector->engine;
    uint8_t *seen = calloc(engine_get_profile(engine)->threads.length + 1, sizeof(*seen));
    bool enough = seen;
    uint32_t waiting = 0;
    for (size_t i = 0; enough && i < engine->threads.length; i++) {
        collector->thread = engine->threads.data[i];
        size_t before = collector->list.length;
        if (!seen[collector->thread] && engine_counts_thread(engine, collector->thread))
            enough = visit_wait_parts(engine, collector->thread, collect, collector);
        waiting += collector->list.length > before;
        seen[collector->thread] = 1;
    }
    free(seen);
    for (size_t i = 0; i < OBJECT_WAITS_STEPS; i++) /* the times of unseen waits are estimates */
        collector->waits->waiting[i] = fmin(collector->waits->waiting[i], waiting);
    collector->numbers = malloc((collector->list.length + 1) * sizeof(*collector->numbers));
    for (uint32_t i = 0; collector->numbers && i < collector->list.length; i++)
        collector->numbers[i] = i;
    return enough && collector->numbers ? 0 : error_no_memory(err);
}

static struct call_site find_call_site(const struct profile *profile, uint32_t stack)
{
    uint32_t at = find_own_stack(profile, stack);
    struct call_site site = {.place = find_own_place(profile, stack)};
    for (size_t i = 0; i < SITE_CALLERS; i++) {
        at = at == PROFILE_NONE ? at : profile->stacks.prefix[at];
        site.callers[i] = at == PROFILE_NONE ? PROFILE_NONE : profile->frames.func[profile->stacks.frame[at]];
    }
    return site;
}

/* Finds the call sites of the waits. Waits share stacks, and a deep stack takes long. */
static int find_sites(struct collector *collector, struct error *err)
{
    const struct profile *profile = engine_get_profile(collector->engine);
    struct call_site *sites = malloc((profile->stacks.length + 1) * sizeof(*sites));
    uint8_t *known = calloc(profile->stacks.length + 1, sizeof(*known));
    for (size_t i = 0; sites && known && i < collector->list.length; i++) {
        struct object_wait *wait = &collector->list.data[i];
        const uint32_t stacks[] = {profile->stacks.prefix[wait->part.stack], wait->part.waker_stack};
        struct call_site *const found[] = {&wait->waits_at, &wait->ended_at};
        for (size_t at = 0; at < 2; at++) {
            size_t stack = stacks[at] == PROFILE_NONE ? profile->stacks.length : stacks[at];
            if (!known[stack])
                sites[stack] = find_call_site(profile, stacks[at]);
            known[stack] = 1;
            *found[at] = sites[stack];
        }
    }
    bool enough = sites && known;
    free(sites);
    free(known);
    return enough ? 0 : error_no_memory(err);
}

/* ---- how long wakers hold a lock ---- */

static bool ends_later(const void *context, uint32_t a, uint32_t b)
{
    const struct collector *collector = context;
    return collector->list.data[a].part.time.to > collector->list.data[b].part.time.to;
}

/* The waker of a wait has held the lock since the earlier end of another wait, or since the first of the threads that
 * still wait has begun to wait. Before, the lock may have been free. */
static int find_held(struct collector *collector, struct error *err)
{
    double since = INFINITY;
    int code = order_sort_numbers(collector->numbers, collector->list.length, ends_later, collector, err);
    for (size_t i = code ? 0 : collector->list.length; i-- > 0;) {
        struct object_wait *wait = &collector->list.data[collector->numbers[i]];
        since = fmin(since, wait->part.time.from);
        double released = i ? collector->list.data[collector->numbers[i - 1]].part.time.to : -INFINITY;
        wait->held = wait->part.time.to - fmax(since, released);
    }
    return code;
}

static bool is_held(const struct engine *engine, uint32_t reason)
{
    static const char *const reasons[] = {"Mutex", "Read-write lock", "Once", NULL};
    return is_wait_reason_in(engine, reason, reasons);
}

/* ---- the rows ---- */

size_t measure_waker_name(const char *waker)
{
    const char *number = strrchr(waker, '(');
    bool has_number = number && number > waker && number[-1] == ' ' && parse_waker_tid(waker) != PROFILE_NONE;
    return has_number ? (size_t)(number - 1 - waker) : strlen(waker);
}

static int compare_sites(const struct call_site *a, const struct call_site *b)
{
    int order = ORDER_THEN(a->place.func, b->place.func, ORDER(a->place.line, b->place.line));
    for (size_t i = 0; !order && i < SITE_CALLERS; i++)
        order = ORDER(a->callers[i], b->callers[i]);
    return order;
}

static int compare_waiters(const struct collector *collector, uint32_t a, uint32_t b)
{
    return compare_sites(&collector->list.data[a].waits_at, &collector->list.data[b].waits_at);
}

static const char *get_waker_name(const struct collector *collector, uint32_t number)
{
    uint32_t waker = collector->list.data[number].part.waker;
    return waker == PROFILE_NONE ? "" : profile_text(engine_get_profile(collector->engine), waker);
}

static int compare_wakers(const struct collector *collector, uint32_t a, uint32_t b)
{
    const char *waker_a = get_waker_name(collector, a), *waker_b = get_waker_name(collector, b);
    size_t length_a = measure_waker_name(waker_a), length_b = measure_waker_name(waker_b);
    int order = length_a == length_b ? memcmp(waker_a, waker_b, length_a) : ORDER(length_a, length_b);
    return order ? order : compare_sites(&collector->list.data[a].ended_at, &collector->list.data[b].ended_at);
}

static bool is_later_waiter(const void *context, uint32_t a, uint32_t b)
{
    int order = compare_waiters(context, a, b);
    const struct collector *collector = context;
    return order ? order > 0 : collector->list.data[a].thread > collector->list.data[b].thread;
}

static bool is_later_waker(const void *context, uint32_t a, uint32_t b)
{
    int order = compare_wakers(context, a, b);
    const struct collector *collector = context;
    return order ? order > 0 : collector->list.data[a].part.waker > collector->list.data[b].part.waker;
}

static void add_to_row(struct site_waits *row, const struct object_wait *wait)
{
    double count = estimate_count(&wait->part);
    row->total += wait->part.ms;
    row->count += count;
    row->held += count * wait->held;
    if (wait->part.longest < row->longest)
        return;
    row->longest = wait->part.longest;
    row->from = wait->part.time.from;
    row->to = wait->part.time.to;
    row->thread = wait->thread;
    row->waker = wait->part.waker;
}

DEFINE_MAGNITUDE(get_row_total, struct site_waits, row->total)

/* Makes one row of waits with equal keys. */
static int make_rows(struct collector *collector, bool by_waker, struct site_list *rows, struct error *err)
{
    int (*compare)(const struct collector *, uint32_t, uint32_t) = by_waker ? compare_wakers : compare_waiters;
    const uint32_t *numbers = collector->numbers;
    bool has_held = by_waker && is_held(collector->engine, collector->waits->reason);
    int code = order_sort_numbers(collector->numbers, collector->list.length,
                                  by_waker ? is_later_waker : is_later_waiter, collector, err);
    for (size_t i = 0; !code && i < collector->list.length; i++) {
        const struct object_wait *wait = &collector->list.data[numbers[i]];
        bool is_new = i == 0 || compare(collector, numbers[i - 1], numbers[i]) != 0;
        const struct object_wait *last = i ? &collector->list.data[numbers[i - 1]] : NULL;
        if (is_new && !array_push_zero(rows))
            return error_no_memory(err);
        struct site_waits *row = &rows->data[rows->length - 1];
        row->site = by_waker ? wait->ended_at : wait->waits_at;
        row->threads += is_new || (by_waker ? last->part.waker != wait->part.waker : last->thread != wait->thread);
        add_to_row(row, wait);
    }
    for (size_t i = 0; i < rows->length; i++)
        rows->data[i].held =
            has_held && rows->data[i].waker != PROFILE_NONE ? rows->data[i].held / rows->data[i].count : NAN;
    return code ? code : order_sort_rows(rows->data, sizeof(*rows->data), rows->length, get_row_total, err);
}

/* ---- the critical paths during the longest waits ---- */

static bool is_shorter(const void *context, uint32_t a, uint32_t b)
{
    const struct collector *collector = context;
    return collector->list.data[a].part.longest < collector->list.data[b].part.longest;
}

static int find_paths(struct collector *collector, struct critical_path *path, struct error *err)
{
    enum { MOST_PATHS = 1000 };
    const struct engine *engine = collector->engine;
    struct path_ranges ranges = {0};
    int code = order_sort_numbers(collector->numbers, collector->list.length, is_shorter, collector, err);
    for (size_t i = 0; !code && i < collector->list.length && i < MOST_PATHS; i++) {
        const struct object_wait *wait = &collector->list.data[collector->numbers[i]];
        const struct time_range time = {fmax(wait->part.time.from, engine->range.from),
                                        fmin(wait->part.time.to, engine->range.to)};
        if (!array_push(&ranges, (struct path_range){wait->thread, time}))
            code = error_no_memory(err);
    }
    if (!code)
        code = critical_paths_find(path, engine_get_profile(engine), ranges.data, ranges.length, err);
    array_free(&ranges);
    return code;
}

static int find_meanwhile(struct collector *collector, struct error *err)
{
    struct critical_path path = {0};
    int code = find_paths(collector, &path, err);
    if (!code)
        code = find_critical_path_parts(collector->engine, &path, PROFILE_NONE, &collector->waits->meanwhile, err);
    array_free(&path);
    return code;
}

static int collect_waits(struct collector *collector, uint32_t object, struct error *err)
{
    const struct engine *engine = collector->engine;
    struct object_waits *waits = collector->waits;
    waits->object = object;
    waits->reason = PROFILE_NONE;
    waits->there = engine_measure_lifetime(engine);
    waits->range = engine_get_queried_range(engine);
    int code = collect_all(collector, err);
    return code ? code : find_sites(collector, err);
}

static void scale_rows(struct site_list *rows, double factor)
{
    for (size_t i = 0; i < rows->length; i++) {
        rows->data[i].total *= factor;
        rows->data[i].count *= factor;
    }
}

/* In a query of one side of a comparison, makes times and counts means of its runs. */
static void scale_waits(struct object_waits *waits, double factor)
{
    waits->total *= factor;
    waits->count *= factor;
    for (size_t i = 0; i < OBJECT_WAITS_STEPS; i++)
        waits->waiting[i] *= factor;
    scale_rows(&waits->waiters, factor);
    scale_rows(&waits->wakers, factor);
}

static void collector_destroy(struct collector *collector)
{
    array_free(&collector->list);
    free(collector->numbers);
}

int object_waits_find(struct object_waits *waits, const struct engine *engine, uint32_t object, struct error *err)
{
    struct collector collector = {.engine = engine, .waits = waits};
    int code = collect_waits(&collector, object, err);
    if (!code)
        code = find_held(&collector, err);
    if (!code)
        code = make_rows(&collector, false, &waits->waiters, err);
    if (!code && collector.has_wakers)
        code = make_rows(&collector, true, &waits->wakers, err);
    if (!code && collector.has_wakers)
        code = find_meanwhile(&collector, err);
    scale_waits(waits, engine_get_wait_factor(engine));
    collector_destroy(&collector);
    return code;
}

int object_waits_find_waiters(struct object_waits *waits, const struct engine *engine, uint32_t object,
                              struct error *err)
{
    struct collector collector = {.engine = engine, .waits = waits};
    int code = collect_waits(&collector, object, err);
    if (!code)
        code = make_rows(&collector, false, &waits->waiters, err);
    scale_waits(waits, engine_get_wait_factor(engine));
    collector_destroy(&collector);
    return code;
}

int object_waits_find_paths(const struct engine *engine, uint32_t object, struct critical_path *path, struct error *err)
{
    struct object_waits waits = {0};
    struct collector collector = {.engine = engine, .waits = &waits};
    int code = collect_waits(&collector, object, err);
    if (!code)
        code = find_paths(&collector, path, err);
    collector_destroy(&collector);
    object_waits_destroy(&waits);
    return code;
}

uint32_t get_main_waiter(const struct object_waits *waits)
{
    uint32_t func = waits->waiters.length ? waits->waiters.data[0].site.place.func : PROFILE_NONE;
    double total = 0;
    for (size_t i = 0; i < waits->waiters.length; i++)
        total += waits->waiters.data[i].site.place.func == func ? waits->waiters.data[i].total : 0;
    return total > waits->total / 2 ? func : PROFILE_NONE;
}

void object_waits_destroy(struct object_waits *waits)
{
    array_free(&waits->waiters);
    array_free(&waits->wakers);
    array_free(&waits->meanwhile);
}

/* ---- JSON ---- */

static void write_func(struct json_writer *json, const struct profile *profile, const char *key, uint32_t func)
{
    if (func != PROFILE_NONE)
        json_member_text(json, key, profile_text(profile, get_func_names(profile, func).name));
}

static void write_rows(struct json_writer *json, const struct profile *profile, const char *key,
                       const struct site_list *rows, bool by_waker)
{
    json_member_open(json, key, '[');
    for (size_t i = 0; i < rows->length; i++) {
        const struct site_waits *row = &rows->data[i];
        json_open(json, '{');
        if (by_waker && row->waker != PROFILE_NONE)
            json_member_text(json, "waker", profile_text(profile, row->waker));
        json_member_double(json, "total_ms", row->total);
        json_member_double(json, "count", round(row->count));
        json_member_double(json, "threads", row->threads);
        if (!isnan(row->held))
            json_member_double(json, "held_ms", row->held);
        longest_wait_write(json, &(struct longest_wait){row->longest, row->from, row->to, row->thread});
        wait_place_write(json, "where", profile, row->site.place.func, row->site.place.line);
        json_member_open(json, "callers", '[');
        for (size_t at = 0; at < SITE_CALLERS && row->site.callers[at] != PROFILE_NONE; at++)
            json_text_z(json, profile_text(profile, get_func_names(profile, row->site.callers[at]).name));
        json_close(json, ']');
        json_close(json, '}');
    }
    json_close(json, ']');
}

void object_waits_write(struct json_writer *json, const struct engine *engine, const struct object_waits *waits)
{
    const struct profile *profile = engine_get_profile(engine);
    json_open(json, '{');
    write_func(json, profile, "object", waits->object);
    json_member_text(json, "reason", get_wait_reason_name(engine, waits->reason));
    json_member_double(json, "total_ms", waits->total);
    json_member_double(json, "count", round(waits->count));
    json_member_double(json, "longest_ms", waits->longest);
    json_member_double(json, "there_ms", waits->there);
    json_member_bool(json, "is_estimated", waits->is_estimated);
    json_member_double(json, "from_ms", waits->range.from);
    json_member_double(json, "to_ms", waits->range.to);
    json_member_open(json, "waiting", '[');
    for (size_t i = 0; i < OBJECT_WAITS_STEPS; i++)
        json_double(json, waits->waiting[i]);
    json_close(json, ']');
    write_rows(json, profile, "waiters", &waits->waiters, false);
    write_rows(json, profile, "wakers", &waits->wakers, true);
    json_member_open(json, "meanwhile", '[');
    for (size_t i = 0; i < waits->meanwhile.length; i++) {
        const struct path_part *part = &waits->meanwhile.data[i];
        json_open(json, '{');
        json_member_double(json, "ms", part->ms);
        json_member_text(json, "state", get_path_state_name(part->state));
        json_member_double(json, "thread", part->thread);
        write_func(json, profile, "function", part->func);
        write_func(json, profile, "object", part->object);
        json_close(json, '}');
    }
    json_close(json, ']');
    json_close(json, '}');
}
