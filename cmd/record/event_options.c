#include "cmd/record/event_options.h"

#include "cmd/common/quantities.h"
#include "cmd/common/ui.h"

/* EVENT[,EVENT...] */
static int add_texts(const struct option_use *use)
{
    struct event_options *options = use->group;
    for (const char *at = use->value;; at++) {
        size_t length = strcspn(at, ",");
        if (!length)
            return ui_usage("record", "-e/--event needs names of events, separated by commas, not '%s'", use->value);
        char *text = strndup(at, length);
        if (!text || !array_push(&options->texts, text)) {
            free(text);
            return ui_fail("out of memory");
        }
        at += length;
        if (!*at)
            return 0;
    }
}

static int parse_period(const struct option_use *use)
{
    struct event_options *options = use->group;
    return parse_number(use->value, 1, INT64_MAX, &options->period)
               ? 0
               : ui_usage("record", "'%s' is not a period; give a number of events per sample, at least 1", use->value);
}

const struct option_row event_option_rows[] = {
    {"event", 'e', "EVENT[,...]",
     "also sample these events: page-faults, sched:sched_switch, uprobe:PATH:FUNCTION ... ('prof events' lists them); can be given several times",
     .parse = add_texts,
     .choices = "page-faults minor-faults major-faults context-switches cpu-migrations cycles instructions "},
    {"no-cpu-samples", 0, NULL, "sample only the events of -e; count CPU time without samples",
     OPTION_FLAG(struct event_options, no_cpu_samples)},
    {"period", 0, "N",
     "take one sample per N events of -e (1 for tracepoints and probes; other events have the rate of -r instead)",
     .parse = parse_period},
    {.name = NULL},
};

int event_options_find(struct event_options *options)
{
    struct error err;
    if (options->period && !options->texts.length)
        return ui_usage("record", "--period needs an event (-e); -r sets the rate at which prof samples CPU time");
    if (options->no_cpu_samples && !options->texts.length)
        return ui_usage("record", "--no-cpu-samples leaves nothing to sample without -e");
    for (size_t i = 0; i < options->texts.length; i++) {
        int code = event_list_add(&options->list, options->texts.data[i], options->period, &err);
        if (code == -EINVAL)
            return ui_usage("record", "%s", err.text);
        if (code)
            return ui_fail_with_error(&err);
    }
    if (options->no_cpu_samples && !options->list.length)
        return ui_usage("record", "--no-cpu-samples leaves nothing to sample: %s is CPU time", options->texts.data[0]);
    return 0;
}

void event_options_destroy(struct event_options *options)
{
    for (size_t i = 0; i < options->texts.length; i++)
        free(options->texts.data[i]);
    array_free(&options->texts);
    event_list_destroy(&options->list);
}
