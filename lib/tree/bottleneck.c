#include "tree/bottleneck.h"

#include "base/starts_with.h"
#include "tree/engine_state.h"
#include "tree/func_name.h"
#include "tree/object_waits.h"
#include "tree/own_frame.h"
#include "tree/path_parts.h"
#include "tree/quantity.h"
#include "tree/runtime_frames.h"
#include "tree/wait_names.h"

static const double large = 1.0 / 3;         /* share of the range, or of the time of the threads that wait */
static const double large_of_lock = 1.0 / 7; /* share of the time of the threads that wait for each other */
static const double least_share = 0.1;       /* share of the time of all threads */

/* A critical path and its parts. */
struct parted_path {
    struct critical_path path;
    struct path_parts parts;
};

static int find_path(struct parted_path *path, const struct engine *engine, uint32_t thread, struct time_range range,
                     struct error *err)
{
    int code = critical_path_find(&path->path, engine_get_profile(engine), thread, range, err);
    return code ? code : find_critical_path_parts(engine, &path->path, thread, &path->parts, err);
}

static void parted_path_destroy(struct parted_path *path)
{
    array_free(&path->path);
    array_free(&path->parts);
}

static bool can_have_bottleneck(const struct engine *engine)
{
    return !profile_is_comparison(engine_get_profile(engine)) && engine->threads.length;
}

static const char *get_func_name(const struct engine *engine, uint32_t func)
{
    return profile_text(engine_get_profile(engine), engine_get_profile(engine)->funcs.name[func]);
}

/* ---- the critical path of the first thread ---- */

/* Returns the number of the longest part after the runnable time, which can be that of any program on a busy machine.
 * *others: ms of the parts before. */
static size_t find_longest_part(const struct path_parts *parts, double *others)
{
    size_t i = 0;
    *others = 0;
    for (; i < parts->length && parts->data[i].state == PATH_RUNNABLE; i++)
        *others += parts->data[i].ms;
    return i;
}

int bottleneck_find_path(struct bottleneck *bottleneck, const struct engine *engine, struct error *err)
{
    /* a thread may sleep until work arrives; a path stays on a thread that waits for no other thread */
    static const double weight_of_sleep = 0.75, weight_of_stay = 0.5;
    struct parted_path path = {0};
    struct time_range range = engine_get_queried_range(engine);
    double length = range.to - range.from, runnable;
    bottleneck->object = PROFILE_NONE;
    if (!can_have_bottleneck(engine) || !profile_has_wakers(engine_get_profile(engine)) || engine->is_searching)
        return 0;
    uint32_t thread = engine->threads.data[0];
    if (engine_get_thread_total(engine, thread, WEIGH_CPU_TIME, TABLE_SAMPLES) > (1 - large) * length)
        return 0;
    int code = find_path(&path, engine, thread, range, err);
    size_t number = code ? 0 : find_longest_part(&path.parts, &runnable);
    const struct path_part *longest = path.parts.data + number;
    if (!code && number < path.parts.length && longest->ms > large * (length - runnable)) {
        bool sleeps = longest->object != PROFILE_NONE && strcmp(get_func_name(engine, longest->object), "sleep") == 0;
        bool stays = longest->waiter == PROFILE_NONE, is_other = longest->thread != thread;
        bottleneck->object = longest->waited_for;
        bottleneck->weight = fmin(1, 2 * longest->ms / (length - runnable)) * (sleeps ? weight_of_sleep : 1) *
                             (stays ? weight_of_stay : 1);
        if (!stays || (longest->state == PATH_RUNS && is_other))
            code = path_parts_append_sentence(&bottleneck->sentence, engine, &path.parts, thread, number + 1, err);
    }
    parted_path_destroy(&path);
    return code;
}

/* ---- the object of most waits ---- */

static bool can_be_bottleneck(const struct engine *engine, const struct wait_group *group)
{
    static const char *const reasons[] = {"Mutex", "Read-write lock", "Once", "Disk", "Page fault", NULL};
    if (is_wait_reason_in(engine, group->reason, reasons))
        return true;
    /* other locks of this kind may be no locks: a program can sleep in any futex word */
    const char *object = get_wait_object_name(engine, group);
    return strcmp(get_wait_reason_name(engine, group->reason), "Lock") == 0 &&
           (starts_with(object, "lock in ") || strcmp(object, "memory map") == 0);
}

static bool append_all(struct text_buffer *text, const char *const *words, size_t count)
{
    bool enough = true;
    for (size_t i = 0; enough && i < count; i++)
        enough = text_append_z(text, words[i]);
    return enough;
}

static bool append_func(struct text_buffer *text, const struct engine *engine, uint32_t func)
{
    return text_append_func_name(text, get_func_name(engine, func));
}

/* Appends " in compute"; PROFILE_NONE: nothing. */
static bool append_in_func(struct text_buffer *text, const struct engine *engine, uint32_t func)
{
    return func == PROFILE_NONE || (text_append_z(text, " in ") && append_func(text, engine, func));
}

#define APPEND(text, ...)                                                                                              \
    append_all(text, (const char *const[]){__VA_ARGS__}, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

static bool has_func(const struct profile *profile, uint32_t stack, uint32_t func)
{
    for (; stack != PROFILE_NONE; stack = profile->stacks.prefix[stack])
        if (profile->frames.func[profile->stacks.frame[stack]] == func)
            return true;
    return false;
}

/* Keeps the segments of threads that hold the object while another thread waits. A holder is in the function in which
 * it later releases the object. Other threads may only be on their way to the object. A function that only releases it,
 * such as a method unlock(), has little of the time, and then no segment is kept. Returns whether the threads that
 * release the object are mostly runnable. */
static bool keep_segments_of_holders(struct critical_path *path, const struct profile *profile, uint32_t object)
{
    uint32_t wakes_in = PROFILE_NONE,
             releases = PROFILE_NONE; /* values of the last segment, because a wait has many segments */
    double runnable = 0, total = 0, held = 0, waits = 0; /* `waits`: for the object */
    size_t kept = 0;
    for (size_t i = 0; i < path->length; i++) {
        const struct path_segment *segment = &path->data[i];
        if (segment->waited_for == PROFILE_NONE || find_path_object(profile, segment->waited_for) != object)
            continue;
        double length = segment->to - segment->from;
        bool is_runnable = segment->state == PATH_RUNNABLE;
        total += length;
        runnable += is_runnable ? length : 0;
        bool waits_too = segment->state == PATH_WAITS && find_path_object(profile, segment->stack) == object;
        waits += waits_too ? length : 0;
        if (segment->wakes_in != wakes_in)
            releases = find_own_place(profile, segment->wakes_in).func;
        wakes_in = segment->wakes_in;
        if (is_runnable || releases == PROFILE_NONE || !has_func(profile, segment->stack, releases))
            continue;
        held += waits_too ? 0 : length;
        path->data[kept++] = *segment;
    }
    path->length = held > (total - runnable - waits) / 2 ? kept : 0;
    return runnable > total / 2;
}

/* Returns the part with more than half of the time, or NULL. A thread that waits for the object does not hold the
 * object yet. */
static const struct path_part *find_main_part(const struct path_parts *parts, uint32_t object)
{
    const struct path_part *largest = NULL;
    double total = 0;
    for (size_t i = 0; i < parts->length; i++) {
        if (parts->data[i].object == object)
            continue;
        total += parts->data[i].ms;
        largest = largest ? largest : &parts->data[i];
    }
    return largest && largest->ms > total / 2 ? largest : NULL;
}

/* Sums the parts of the path by thread, whether the thread runs or waits. */
static int group_parts_by_thread(struct parted_path *path, const struct engine *engine, struct error *err)
{
    for (size_t i = 0; i < path->path.length; i++) {
        struct path_segment *segment = &path->path.data[i];
        if (segment->state == PATH_WAITS && segment->stack != PROFILE_NONE)
            segment->stack = engine_get_profile(engine)->stacks.prefix[segment->stack];
        segment->state = PATH_RUNS;
    }
    return find_critical_path_parts(engine, &path->path, PROFILE_NONE, &path->parts, err);
}

/* Appends "runs compute", "waits for disk: read x in load" or "sleeps in poll". */
static bool append_work(struct text_buffer *text, const struct engine *engine, const struct path_part *part)
{
    if (part->state == PATH_RUNS)
        return text_append_z(text, "runs ") && append_func(text, engine, part->func);
    const char *object = get_func_name(engine, part->object);
    bool sleeps = strcmp(object, "sleep") == 0;
    return APPEND(text, sleeps ? "sleeps" : "waits for ", sleeps ? "" : object) &&
           append_in_func(text, engine, part->func);
}

/* Appends the work of the holders during the longest waits, or else the function of the holders. */
static int append_holder(struct bottleneck *bottleneck, const struct engine *engine, const struct wait_group *group,
                         struct error *err)
{
    struct parted_path path = {0};
    bool has_work = true;
    int code = object_waits_find_paths(engine, group->func, &path.path, err);
    bool lacks_cpu = !code && keep_segments_of_holders(&path.path, engine_get_profile(engine), group->func);
    if (!code)
        code = find_critical_path_parts(engine, &path.path, PROFILE_NONE, &path.parts, err);
    const struct path_part *part = code ? NULL : find_main_part(&path.parts, group->func);
    if (!code && !part) {
        has_work = false;
        code = group_parts_by_thread(&path, engine, err);
        part = code ? NULL : find_main_part(&path.parts, group->func);
    }
    bool runs = part && part->state == PATH_RUNS && part->func != PROFILE_NONE && part->func != group->own_func;
    bool waits = part && part->state == PATH_WAITS && part->object != PROFILE_NONE;
    struct text_buffer *text = &bottleneck->sentence;
    bool has_holder = runs || waits, is_known = has_holder || (lacks_cpu && path.parts.length);
    bottleneck->has_holder = is_known;
    if (!code && is_known) {
        uint32_t thread = (has_holder ? part : path.parts.data)->thread;
        bool enough =
            APPEND(text, " Its holder, thread ", profile_thread_name(engine_get_profile(engine), thread), ",",
                   lacks_cpu ? " is mostly ready to run without a CPU" : "", lacks_cpu && has_holder ? ", else" : "");
        if (has_holder && has_work)
            enough = enough && text_append_z(text, lacks_cpu ? " " : " mostly ") && append_work(text, engine, part);
        else if (has_holder)
            enough = enough && text_append_z(text, lacks_cpu ? " is in " : " is mostly in ") &&
                     append_func(text, engine, part->func);
        code = enough && text_append_z(text, ".") ? 0 : error_no_memory(err);
    }
    parted_path_destroy(&path);
    return code;
}

/* An object such as "mutex in lookup" already has the name of the place. */
static bool ends_with_name(const char *object, const char *place)
{
    size_t length = strlen(object), end = strlen(place);
    return length > end && strcmp(object + length - end, place) == 0;
}

/* Appends "mutex cache in lookup". `place`: the function in which threads wait, or PROFILE_NONE. */
static bool append_object(struct text_buffer *text, const struct engine *engine, const struct wait_group *group,
                          uint32_t place)
{
    const char *object = get_wait_object_name(engine, group);
    object = strcmp(object, "child") == 0 ? "child processes" : strcmp(object, "GIL") == 0 ? "the GIL" : object;
    const char *function = place == PROFILE_NONE ? "" : get_func_name(engine, place);
    bool has_place = function[0] && !ends_with_name(object, function) && !profile_is_address(function);
    bool sleeps = strcmp(get_wait_reason_name(engine, group->reason), "Sleep") == 0;
    return text_append_z(text, sleeps ? "" : object) && append_in_func(text, engine, has_place ? place : PROFILE_NONE);
}

static int append_sentence(struct text_buffer *text, const struct engine *engine, const struct wait_group *group,
                           uint32_t place, struct error *err)
{
    char who[QUANTITY_TEXT_MAX], share[QUANTITY_TEXT_MAX];
    bool is_one = group->threads == 1, sleeps = strcmp(get_wait_reason_name(engine, group->reason), "Sleep") == 0;
    snprintf(who, sizeof(who), "%u of %zu threads %s ", group->threads, engine->threads.length,
             sleeps ? "sleep" : "wait");
    snprintf(share, sizeof(share), "%.0f%% of %s time%s", 100 * group->total / group->there, is_one ? "its" : "their",
             sleeps ? "" : " for ");
    bool enough = APPEND(text, is_one ? "Thread " : who,
                         is_one ? profile_thread_name(engine_get_profile(engine), group->thread) : "",
                         !is_one  ? ""
                         : sleeps ? " sleeps "
                                  : " waits ",
                         share);
    return enough && append_object(text, engine, group, place) && text_append_z(text, ".") ? 0 : error_no_memory(err);
}

static int find_place(const struct engine *engine, const struct wait_group *group, uint32_t *place, struct error *err)
{
    struct object_waits waits = {0};
    int code = object_waits_find_waiters(&waits, engine, group->func, err);
    *place = code ? PROFILE_NONE : get_main_waiter(&waits);
    object_waits_destroy(&waits);
    return code;
}

int wait_group_append_object(struct text_buffer *text, const struct engine *engine, const struct wait_group *group,
                             struct error *err)
{
    uint32_t place;
    int code = find_place(engine, group, &place, err);
    return code || append_object(text, engine, group, place) ? code : error_no_memory(err);
}

int wait_group_append_sentence(struct text_buffer *text, const struct engine *engine, const struct wait_group *group,
                               struct error *err)
{
    uint32_t place;
    int code = find_place(engine, group, &place, err);
    return code ? code : append_sentence(text, engine, group, place, err);
}

/* ---- a pool with too few items ---- */

/* Whether threads take and return the items of a pool in one function: the function that waits also ends waits, or the
 * caller of both does. Workers without work wait in another function than the threads that have work for them. */
static bool is_pool(const struct object_waits *waits, const struct profile *profile)
{
    const struct site_waits *waker = waits->wakers.data;
    while (waker < waits->wakers.data + waits->wakers.length && waker->site.place.func == PROFILE_NONE)
        waker++;
    if (!waits->waiters.length || waker == waits->wakers.data + waits->wakers.length || waker->total < waits->total / 3)
        return false;
    const struct call_site *taken = &waits->waiters.data[0].site, *returned = &waker->site;
    uint32_t caller = taken->callers[0];
    bool has_caller = caller != PROFILE_NONE && !is_runtime_frame(profile, caller);
    return taken->place.func == returned->place.func || (has_caller && caller == returned->callers[0]);
}

/* A thread that waits for the next event has no work either. */
static bool waits_for_event(const struct engine *engine, const struct path_part *part)
{
    static const char *const events[] = {"epoll", "poll", "select"};
    for (size_t i = 0; part->object != PROFILE_NONE && i < sizeof(events) / sizeof(*events); i++)
        if (strcmp(get_func_name(engine, part->object), events[i]) == 0)
            return true;
    return false;
}

/* Describes the waits for an item of a pool, such as a connection, if threads with items are busy meanwhile. */
static int describe_pool(struct bottleneck *bottleneck, const struct engine *engine, const struct wait_group *group,
                         struct error *err)
{
    struct object_waits waits = {0};
    double total = 0;
    int code = object_waits_find(&waits, engine, group->func, err);
    const struct path_part *part = NULL; /* the longest part in which a thread does something */
    for (size_t i = 0; i < waits.meanwhile.length; i++) {
        const struct path_part *other = &waits.meanwhile.data[i];
        total += other->state == PATH_RUNNABLE ? 0 : other->ms;
        part = !part && (other->state == PATH_RUNS || other->state == PATH_WAITS) ? other : part;
    }
    bool is_busy =
        part && part->waited_for == group->func && part->object != group->func && !waits_for_event(engine, part);
    if (!code && is_busy && is_pool(&waits, engine_get_profile(engine))) {
        struct text_buffer *text = &bottleneck->sentence;
        bool has_work = part->func != PROFILE_NONE && part->ms > total / 2;
        bottleneck->object = group->func;
        bottleneck->has_holder = has_work;
        code = append_sentence(text, engine, group, get_main_waiter(&waits), err);
        if (!code && has_work &&
            !(APPEND(text, " Thread ", profile_thread_name(engine_get_profile(engine), part->thread),
                     ", which ends waits, mostly ") &&
              append_work(text, engine, part) && text_append_z(text, ".")))
            code = error_no_memory(err);
    }
    object_waits_destroy(&waits);
    return code;
}

static bool can_be_pool(const struct engine *engine, const struct wait_group *group)
{
    const char *reason = get_wait_reason_name(engine, group->reason);
    return strcmp(reason, "Condition variable") == 0 || strcmp(reason, "Semaphore") == 0;
}

/* ---- the waits of all threads ---- */

/* Returns the lifetime of the threads, ms, without the time in which threads of a runtime have no work. */
static double sum_lifetime_with_work(const struct engine *engine, const struct wait_groups *groups)
{
    double lifetime = groups->totals.there;
    for (size_t i = 0; i < groups->list.length; i++)
        if (strcmp(get_wait_reason_name(engine, groups->list.data[i].reason), "Idle thread") == 0)
            lifetime -= groups->list.data[i].total;
    return lifetime;
}

/* A program that waits for its threads to end has no bottleneck in this wait. */
static bool is_join(const struct engine *engine, uint32_t object)
{
    return object != PROFILE_NONE && starts_with(get_func_name(engine, object), "thread ");
}

int bottleneck_find_object(struct bottleneck *bottleneck, const struct engine *engine, const struct wait_groups *groups,
                           const struct bottleneck *path, struct error *err)
{
    double lifetime = sum_lifetime_with_work(engine, groups);
    bool has_wakers = profile_has_wakers(engine_get_profile(engine));
    bottleneck->object = PROFILE_NONE;
    for (size_t i = 0; can_have_bottleneck(engine) && i < groups->list.length; i++) {
        const struct wait_group *group = &groups->list.data[i];
        double share = group->total / group->there;
        if (group->total < least_share * lifetime)
            break;
        bottleneck->weight = fmin(1, share / large);
        bool can_explain = !path->sentence.length || path->object == PROFILE_NONE || path->object == group->func ||
                           is_join(engine, path->object);
        if (can_explain && share > large && has_wakers && can_be_pool(engine, group)) {
            int code = describe_pool(bottleneck, engine, group, err);
            if (code || bottleneck->sentence.length)
                return code;
        }
        if (share < large_of_lock || !can_be_bottleneck(engine, group))
            continue;
        bottleneck->object = group->func;
        int code = wait_group_append_sentence(&bottleneck->sentence, engine, group, err);
        bool has_holder = !code && group->longest > 0 && has_wakers;
        return has_holder ? append_holder(bottleneck, engine, group, err) : code;
    }
    return 0;
}

void bottleneck_destroy(struct bottleneck *bottleneck)
{
    array_free(&bottleneck->sentence);
}

int engine_group_bottleneck_waits(struct engine *engine, struct wait_groups *groups, struct error *err)
{
    if (!engine_has_waits(engine) || engine->weight != WEIGH_CPU_TIME ||
        engine_get_timings(engine)->root_total > (1 - least_share) * engine_measure_lifetime(engine))
        return 0;
    return engine_group_waits(engine, WAITS_BY_OBJECT, groups, err);
}
