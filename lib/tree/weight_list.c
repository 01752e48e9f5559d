#include "tree/weight_list.h"

/* ---- the weights that a profile has ---- */

static bool has_weights(const struct profile *profile)
{
    for (size_t i = 0; i < profile->threads.length; i++)
        if (profile->threads.data[i].samples.weight)
            return true;
    return false;
}

static bool has_cpu_times(const struct profile *profile)
{
    for (size_t i = 0; profile->meta.has_cpu_delta && i < profile->threads.length; i++)
        if (profile->threads.data[i].samples.cpu_delta)
            return true;
    return false;
}

static bool has_sample_off_cpu(const struct profile *profile)
{
    for (size_t t = 0; t < profile->threads.length; t++) {
        const struct sample_table *samples = &profile->threads.data[t].samples;
        for (size_t i = 0; samples->cpu_delta && i < samples->length; i++)
            if (samples->stack[i] != PROFILE_NONE && samples->cpu_delta[i] == 0)
                return true;
    }
    return false;
}

/* Returns the unit of the recorded weights, from the first thread with weights. */
static enum weight_type get_recorded_type(const struct profile *profile)
{
    for (size_t i = 0; i < profile->threads.length; i++)
        if (profile->threads.data[i].samples.weight)
            return profile->threads.data[i].samples.weight_type;
    return profile->threads.length ? profile->threads.data[0].samples.weight_type : WEIGHT_SAMPLES;
}

bool profile_has_weight(const struct profile *profile, enum sample_weight weight)
{
    switch (weight) {
    case WEIGH_RECORDED:
        return true;
    case WEIGH_SAMPLES: /* rows that stand for several samples have no sample count */
        return has_weights(profile) && !(profile->meta.has_no_times && get_recorded_type(profile) == WEIGHT_SAMPLES);
    case WEIGH_TIME:
        return !profile->meta.has_no_times;
    case WEIGH_CPU_TIME:
    case WEIGH_OFF_CPU_TIME:
        return has_cpu_times(profile);
    case WEIGH_ON_CPU:
    case WEIGH_OFF_CPU:
        return has_cpu_times(profile) && has_sample_off_cpu(profile);
    case WEIGH_ALLOCATED:
    case WEIGH_RETAINED:
    case WEIGH_DEALLOCATED:
    case WEIGH_DEALLOCATION_SITES:
        break;
    }
    return false;
}

bool profile_offers_weight(const struct profile *profile, const struct weight *weight)
{
    if (weight->table == TABLE_SAMPLES)
        return profile_has_weight(profile, weight->kind);
    if (weight->table >= TABLE_EVENTS)
        return weight->table - TABLE_EVENTS < profile->meta.events.length;
    bool needs_partners = weight->kind == WEIGH_RETAINED || weight->kind == WEIGH_DEALLOCATED;
    for (size_t i = 0; i < profile->threads.length; i++) {
        const struct sample_table *table = thread_samples(&profile->threads.data[i], weight->table);
        if (table->length && (table->partner || !needs_partners))
            return true;
    }
    return false;
}

bool weight_needs_cpu_times(enum sample_weight weight)
{
    return weight > WEIGH_TIME && weight < WEIGH_KINDS;
}

/* ---- the list ---- */

/* Names of allocation weights are those of the Firefox Profiler. */
static const struct weight fixed[] = {
    {"recorded", NULL, "Sample weights from the file", NULL, WEIGH_RECORDED, TABLE_SAMPLES},
    {"samples", "Samples", "Each sample counts as one", "samples", WEIGH_SAMPLES, TABLE_SAMPLES},
    {"time", "Time", "CPU time and off-CPU time", "ms", WEIGH_TIME, TABLE_SAMPLES},
    {"cpu-time", "CPU time", "CPU time since the previous sample of the thread", "ms", WEIGH_CPU_TIME, TABLE_SAMPLES},
    {"off-cpu-time", "Off-CPU time",
     "Time that the thread waited or was ready to run; (not running) where no sample shows the function", "ms",
     WEIGH_OFF_CPU_TIME, TABLE_SAMPLES},
    {"on-cpu", "On-CPU samples", "Counts only samples of intervals with CPU time", NULL, WEIGH_ON_CPU, TABLE_SAMPLES},
    {"off-cpu", "Off-CPU samples", "Counts only samples of intervals without CPU time", NULL, WEIGH_OFF_CPU,
     TABLE_SAMPLES},
    {"js-allocations", "JavaScript allocations", "Bytes of JavaScript objects allocated", "bytes", WEIGH_RECORDED,
     TABLE_JS_ALLOCATIONS},
    {"native-retained-allocations", "Retained memory", "Bytes allocated and not deallocated in the selected range",
     "bytes", WEIGH_RETAINED, TABLE_NATIVE_ALLOCATIONS},
    {"native-allocations", "Allocated memory", "Bytes allocated", "bytes", WEIGH_ALLOCATED, TABLE_NATIVE_ALLOCATIONS},
    {"native-deallocations-memory", "Deallocated memory", "Bytes deallocated, by the site that allocated them", "bytes",
     WEIGH_DEALLOCATED, TABLE_NATIVE_ALLOCATIONS},
    {"native-deallocations-sites", "Deallocation sites", "Bytes deallocated, by the site that deallocated them",
     "bytes", WEIGH_DEALLOCATION_SITES, TABLE_NATIVE_ALLOCATIONS},
};
enum { WEIGHTS = sizeof(fixed) / sizeof(*fixed) };

/* The weights of a profile with recorded waits, in display order. In such a profile, the recorded weights equal
 * "time". */
static const struct {
    enum sample_weight kind;
    const char *label, *hint;
} of_waits[] = {
    {WEIGH_CPU_TIME, "On-CPU", "CPU time"},
    {WEIGH_OFF_CPU_TIME, "Off-CPU", "Time that the thread waited or was runnable, by the object of the wait"},
    {WEIGH_TIME, "Both", "On-CPU and off-CPU time: the whole lifetime of the thread"},
    {WEIGH_SAMPLES, "Samples", "Each sample counts as one"},
};
enum { WAIT_WEIGHTS = sizeof(of_waits) / sizeof(*of_waits) };

/* Returns the row of of_waits, or -1. */
static int find_wait_weight(const struct weight *weight)
{
    for (int i = 0; weight->table == TABLE_SAMPLES && i < WAIT_WEIGHTS; i++)
        if (of_waits[i].kind == weight->kind)
            return i;
    return -1;
}

static struct weight make_weight(const struct profile *profile, bool has_waits, size_t i)
{
    static const char *const units[] = {
        [WEIGHT_SAMPLES] = "samples", [WEIGHT_TRACING_MS] = "ms", [WEIGHT_BYTES] = "bytes"};
    static const char *const labels[] = {
        [WEIGHT_SAMPLES] = "Samples", [WEIGHT_TRACING_MS] = "Recorded time", [WEIGHT_BYTES] = "Bytes"};
    enum weight_type type = get_recorded_type(profile);
    struct weight weight = fixed[i];
    if (!weight.unit)
        weight.unit = units[type];
    if (!weight.label)
        weight.label = type == WEIGHT_SAMPLES && has_weights(profile) ? "Weighted samples" : labels[type];
    int of_wait = has_waits ? find_wait_weight(&weight) : -1;
    if (of_wait >= 0) {
        weight.label = of_waits[of_wait].label;
        weight.hint = of_waits[of_wait].hint;
    }
    return weight;
}

/* The weight of an event is the number of events that its samples stand for. The name of a probe omits the
 * directories of its file: "usdt:/usr/bin/python3.11:python:gc__start" becomes "python3.11:python:gc__start", and
 * counts "gc__start". */
static struct weight make_event_weight(const struct profile *profile, size_t i)
{
    const char *name = profile_text(profile, profile->meta.events.data[i].name), *slash = strrchr(name, '/');
    const char *shown = slash && slash[1] ? slash + 1 : name, *colon = strrchr(shown, ':');
    const char *unit = shown != name && colon && colon[1] ? colon + 1 : shown;
    return (struct weight){name, shown,          "Number of events that the samples stand for",
                           unit, WEIGH_RECORDED, (enum sample_table_kind)(TABLE_EVENTS + i)};
}

static bool add_weight(struct weight_list *list, const struct profile *profile, bool has_waits, size_t i)
{
    return !profile_offers_weight(profile, &fixed[i]) || array_push(list, make_weight(profile, has_waits, i));
}

static size_t find_fixed_weight(enum sample_weight kind)
{
    size_t i = 0;
    while (fixed[i].table != TABLE_SAMPLES || fixed[i].kind != kind)
        i++;
    return i;
}

static bool add_events(struct weight_list *list, const struct profile *profile)
{
    bool enough = true;
    for (size_t i = 0; enough && i < profile->meta.events.length; i++)
        enough = array_push(list, make_event_weight(profile, i));
    return enough;
}

int list_weights(struct weight_list *list, const struct profile *profile, struct error *err)
{
    bool has_waits = profile_has_waits(profile), enough = true;
    list->length = 0;
    if (profile->meta.has_only_events)
        enough = add_events(list, profile);
    for (size_t i = 0; has_waits && enough && i < WAIT_WEIGHTS; i++)
        enough = add_weight(list, profile, true, find_fixed_weight(of_waits[i].kind));
    for (size_t i = 0; enough && i < WEIGHTS; i++)
        if (!has_waits || fixed[i].table != TABLE_SAMPLES)
            enough = add_weight(list, profile, has_waits, i);
    if (enough && !profile->meta.has_only_events)
        enough = add_events(list, profile);
    return enough ? 0 : error_no_memory(err);
}

bool find_weight_by_id(const struct profile *profile, const char *id, struct weight *weight)
{
    bool has_waits = profile_has_waits(profile);
    for (size_t i = 0; i < WEIGHTS; i++) {
        *weight = make_weight(profile, has_waits, i);
        if (strcmp(weight->id, id) == 0)
            return true;
    }
    for (size_t i = 0; i < profile->meta.events.length; i++) {
        *weight = make_event_weight(profile, i);
        if (strcmp(weight->id, id) == 0)
            return true;
    }
    return false;
}
