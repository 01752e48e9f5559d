#include "tree/weight_list.h"

#include <string.h>

/* ---- which are held ---- */

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

bool weight_is_held(const struct profile *profile, enum sample_weight weight)
{
    switch (weight) {
    case WEIGH_RECORDED:
        return true;
    case WEIGH_SAMPLES:
        return has_weights(profile);
    case WEIGH_TIME:
        return true;
    case WEIGH_CPU_TIME:
    case WEIGH_OFF_CPU_TIME:
        return has_cpu_times(profile);
    case WEIGH_ON_CPU:
    case WEIGH_OFF_CPU:
        return has_cpu_times(profile) && has_sample_off_cpu(profile);
    case WEIGH_KINDS:
        break;
    }
    return false;
}

bool weight_needs_cpu_times(enum sample_weight weight)
{
    return weight != WEIGH_RECORDED && weight != WEIGH_SAMPLES && weight != WEIGH_TIME;
}

/* ---- the list ---- */

/* The unit of the weights that are recorded: that of the first thread with such. */
static enum weight_type recorded_type(const struct profile *profile)
{
    for (size_t i = 0; i < profile->threads.length; i++)
        if (profile->threads.data[i].samples.weight)
            return profile->threads.data[i].samples.weight_type;
    return profile->threads.length ? profile->threads.data[0].samples.weight_type : WEIGHT_SAMPLES;
}

static struct weight weight_of_kind(const struct profile *profile, enum sample_weight kind)
{
    static const struct weight fixed[WEIGH_KINDS] = {
        [WEIGH_RECORDED] = {"recorded", NULL, "Sample weights from the file", NULL, WEIGH_RECORDED},
        [WEIGH_SAMPLES] = {"samples", "Samples", "Each sample counts as one", "samples", WEIGH_SAMPLES},
        [WEIGH_TIME] = {"time", "Time", "CPU time and off-CPU time", "ms", WEIGH_TIME},
        [WEIGH_CPU_TIME] = {"cpu-time", "CPU time", "CPU time since the previous sample of the thread", "ms",
                            WEIGH_CPU_TIME},
        [WEIGH_OFF_CPU_TIME] = {"off-cpu-time", "Off-CPU time",
                                "Time that the thread waited or was ready to run; (not running) where no sample shows "
                                "the function",
                                "ms", WEIGH_OFF_CPU_TIME},
        [WEIGH_ON_CPU] = {"on-cpu", "On-CPU samples", "Only samples of intervals with CPU time", NULL, WEIGH_ON_CPU},
        [WEIGH_OFF_CPU] = {"off-cpu", "Off-CPU samples", "Only samples of intervals without CPU time", NULL,
                           WEIGH_OFF_CPU}};
    static const char *const units[] = {
        [WEIGHT_SAMPLES] = "samples", [WEIGHT_TRACING_MS] = "ms", [WEIGHT_BYTES] = "bytes"};
    static const char *const labels[] = {
        [WEIGHT_SAMPLES] = "Samples", [WEIGHT_TRACING_MS] = "Recorded time", [WEIGHT_BYTES] = "Bytes"};
    enum weight_type type = recorded_type(profile);
    struct weight weight = fixed[kind];
    if (!weight.unit)
        weight.unit = units[type];
    if (!weight.label)
        weight.label = type == WEIGHT_SAMPLES && has_weights(profile) ? "Weighted samples" : labels[type];
    return weight;
}

int weights_of_profile(struct weight_list *list, const struct profile *profile, struct error *err)
{
    list->length = 0;
    for (int kind = 0; kind < WEIGH_KINDS; kind++)
        if (weight_is_held(profile, (enum sample_weight)kind) &&
            !array_push(list, weight_of_kind(profile, (enum sample_weight)kind)))
            return error_no_memory(err);
    return 0;
}

bool weights_find(const struct profile *profile, const char *id, struct weight *weight)
{
    for (int kind = 0; kind < WEIGH_KINDS; kind++) {
        *weight = weight_of_kind(profile, (enum sample_weight)kind);
        if (strcmp(weight->id, id) == 0)
            return true;
    }
    return false;
}
