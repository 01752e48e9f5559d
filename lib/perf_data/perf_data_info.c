#include "perf_data/perf_data_info.h"

#include "spool/info.h"
#include "sample/event_list.h"

#include <time.h>

struct info_item {
    const char *name;
    uint64_t number;
    const char *text; /* value instead of a number, unless NULL; empty texts are not written */
};

static int write_items(struct perf_data_feed *feed, const struct info_item *items, size_t count)
{
    int code = 0;
    for (const struct info_item *item = items; item < items + count && !code; item++) {
        if (!item->text)
            code = info_write_number(feed->spool, item->name, item->number, feed->err);
        else if (item->text[0])
            code = info_write(feed->spool, item->name, item->text, feed->err);
    }
    return code;
}

static const struct perf_data_attr *find_main_attr(const struct perf_data_feed *feed)
{
    for (size_t i = 0; i < feed->events.length; i++)
        if (feed->events.data[i].is_main)
            return &feed->data->attrs.data[i];
    return NULL;
}

/* perf stores the time of its clock only with -k. Otherwise the file's modification time is the end of the
 * recording. */
uint64_t perf_data_info_get_start_realtime(const struct perf_data_feed *feed)
{
    const struct perf_data_features *features = &feed->data->features;
    if (features->has_clock)
        return features->clock_wall + (feed->first - features->clock_of_wall);
    return feed->mtime - (feed->last - feed->first);
}

/* Returns the name of a known event, for files without names. NULL: unknown. */
static const char *get_default_event_name(const struct perf_data_attr *attr)
{
    size_t count;
    const struct known_event *known = list_known_events(&count);
    for (size_t i = 0; i < count; i++)
        if (known[i].type == attr->type && known[i].config == attr->config)
            return known[i].name;
    return NULL;
}

static void get_event_name(const struct perf_data_attr *attr, char *text, size_t size)
{
    const char *name = attr->name[0] ? attr->name : get_default_event_name(attr);
    if (name)
        snprintf(text, size, "%s", name);
    else
        snprintf(text, size, "event %" PRIu32 ":0x%" PRIx64, attr->type, attr->config);
}

static int write_events(struct perf_data_feed *feed, bool is_end)
{
    int code = 0;
    for (size_t i = 0; i < feed->events.length && !code; i++) {
        const struct fed_event *event = &feed->events.data[i];
        const struct perf_data_attr *attr = &feed->data->attrs.data[i];
        char names[2][64], text[64];
        if (!event->number)
            continue;
        get_event_name(attr, text, sizeof(text));
        snprintf(names[0], sizeof(names[0]), "%s%" PRIu32, is_end ? INFO_EVENT_SAMPLES : INFO_EVENT_NAME,
                 event->number);
        snprintf(names[1], sizeof(names[1]), "%s%" PRIu32, is_end ? INFO_EVENT_TRUNCATED : INFO_EVENT_PERIOD,
                 event->number);
        const struct info_item items[] = {{names[0], .number = event->samples, .text = is_end ? NULL : text},
                                          {names[1], .number = is_end               ? event->truncated
                                                               : attr->is_frequency ? 0
                                                                                    : attr->sample_period}};
        code = write_items(feed, items, 2);
    }
    return code;
}

/* "" for CLOCK_MONOTONIC. */
static const char *get_clock_name(int32_t clock)
{
    switch (clock) {
    case CLOCK_MONOTONIC:
        return "";
    case CLOCK_MONOTONIC_RAW:
        return "CLOCK_MONOTONIC_RAW";
    case CLOCK_REALTIME:
        return "CLOCK_REALTIME";
    case CLOCK_BOOTTIME:
        return "CLOCK_BOOTTIME";
    case CLOCK_TAI:
        return "CLOCK_TAI";
    default:
        return "clock of perf";
    }
}

static int write_machine(struct perf_data_feed *feed)
{
    const struct perf_data_features *features = &feed->data->features;
    char kernel[160] = "", recorder[128], boot[64];
    if (features->release[0])
        snprintf(kernel, sizeof(kernel), "Linux %s", features->release);
    snprintf(recorder, sizeof(recorder), "perf%s%s, imported by prof " PROF_VERSION, features->version[0] ? " " : "",
             features->version);
    const struct info_item items[] = {
        {INFO_SYSTEM, .text = kernel},
        {INFO_KERNEL, .text = kernel},
        {INFO_HOST, .text = features->host},
        {INFO_MACHINE, .text = features->arch},
        {INFO_CPU_NAME, .text = features->cpu_name},
        {INFO_CPUS, .number = features->cpus},
        {INFO_CORES, .number = features->cpus_online},
        {INFO_MEMORY, .number = features->memory},
        {INFO_RECORDER, .text = recorder},
        {INFO_COMMAND, .text = features->command.target ? features->command.target : ""},
        {INFO_PERF_OPTIONS, .text = features->command.options ? features->command.options : ""},
    };
    int code = write_items(feed, items, sizeof(items) / sizeof(*items));
    if (!code && feed->is_this_kernel && info_read_boot(boot, sizeof(boot)))
        code = info_write(feed->spool, INFO_BOOT, boot, feed->err);
    return code;
}

int perf_data_info_start(struct perf_data_feed *feed)
{
    const struct perf_data_attr *attr = find_main_attr(feed);
    char name[64];
    uint32_t stack_size = 0;
    int32_t clock = -1;
    if (attr)
        get_event_name(attr, name, sizeof(name));
    const struct perf_data_attr *attrs = feed->data->attrs.data;
    const char *program = feed->data->features.command.program;
    bool has_kernel = feed->has_kernel || (attr && !attr->exclude_kernel);
    if (attrs)
        clock = attrs->clock; /* all attributes have the same clock */
    for (size_t i = 0; attrs && i < feed->events.length; i++)
        if (feed->events.data[i].samples && attrs[i].stack_size > stack_size)
            stack_size = attrs[i].stack_size;
    const struct info_item items[] = {
        {INFO_PRODUCT, .text = program[0] ? program : "perf record"},
        {INFO_START_REALTIME, .number = perf_data_info_get_start_realtime(feed)},
        {INFO_START_MONOTONIC, .number = feed->first},
        {INFO_CLOCK, .text = get_clock_name(clock)},
        {INFO_INTERVAL, .number = feed->interval},
        {INFO_EVENT, .text = attr ? name : "none"},
        {INFO_NO_CALL_GRAPHS, .number = !feed->has_callchain && !feed->has_stacks},
        {INFO_NO_CPU_TIME, .number = !attr && !feed->has_switches},
        {INFO_TIER, .text = has_kernel ? "kernel and user" : "user only"},
        {INFO_SWITCHES, .number = feed->has_switches},
        {INFO_OFF_CPU, .number = feed->has_switches},
        {INFO_WAKERS, .number = 0},
        {INFO_COUNTERS, .text = "none"},
    };
    const struct info_item stack_bytes = {INFO_STACK_BYTES, .number = stack_size};
    int code = write_machine(feed);
    if (!code && stack_size)
        code = write_items(feed, &stack_bytes, 1);
    if (!code)
        code = write_events(feed, false);
    return code ? code : write_items(feed, items, sizeof(items) / sizeof(*items));
}

/* Writes what the file lacks, as one line for users. */
static void describe_limits(const struct perf_data_feed *feed, char *text, size_t size)
{
    const struct perf_data_result *result = feed->result;
    size_t used = 0;
    text[0] = '\0';
    if (result->missing) {
        used += (size_t)snprintf(text + used, size - used, "%s", result->missing_name);
        if (result->missing > 1)
            used += (size_t)snprintf(text + used, size - used, " and %" PRIu64 " more files", result->missing - 1);
        used += (size_t)snprintf(text + used, size - used, " %s not on this machine, or with another build id",
                                 result->missing > 1 ? "are" : "is");
    }
    if (result->is_other_kernel)
        used += (size_t)snprintf(text + used, size - used,
                                 "%sthe recording comes from another kernel, so kernel functions have no symbols",
                                 used ? "; " : "");
    if (result->guest)
        used += (size_t)snprintf(text + used, size - used, "%sprof omits %llu samples of virtual machines",
                                 used ? "; " : "", (unsigned long long)result->guest);
    if (!feed->has_times)
        snprintf(text + used, size - used, "%sthe file has no times: the timeline shows its samples in sequence",
                 used ? "; " : "");
}

int perf_data_info_end(struct perf_data_feed *feed)
{
    enum { MOMENT = 10000 }; /* resolution of times in profiles, ns; adding it includes the last record in the range */
    char lacks[1024];
    describe_limits(feed, lacks, sizeof(lacks));
    const struct info_item items[] = {
        {INFO_TIER_NOTES, .text = lacks},
        {INFO_END_MONOTONIC, .number = feed->last + MOMENT},
        {INFO_CPU_TIME, .number = 0},
        {INFO_WAITS, .number = feed->waits.stored},
        {INFO_WAITS_TRUNCATED, .number = feed->waits.truncated},
        {INFO_WAITS_WITHOUT_STACK, .number = feed->waits.without_stack},
        {INFO_SAMPLES_LOST, .number = feed->result->lost},
    };
    int code = write_items(feed, items, sizeof(items) / sizeof(*items));
    if (!code)
        code = write_events(feed, true);
    for (size_t i = 0; i < UNWIND_ENDS && !code; i++) {
        char name[64];
        snprintf(name, sizeof(name), INFO_TRUNCATED "%s", unwind_ends[i].key);
        code = feed->truncated_by_reason[i]
                   ? info_write_number(feed->spool, name, feed->truncated_by_reason[i], feed->err)
                   : 0;
    }
    return code;
}
