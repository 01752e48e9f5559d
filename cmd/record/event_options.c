#include "cmd/record/event_options.h"

#include "cmd/common/commands.h"
#include "cmd/common/ui.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* EVENT[,EVENT...] */
static int add_texts(struct event_options *options, const char *list)
{
    for (const char *at = list;; at++) {
        size_t length = strcspn(at, ",");
        if (!length)
            return ui_usage("record", "-e/--event needs names of events, separated by commas, not '%s'", list);
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

static bool parse_period(const char *text, uint64_t *period)
{
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || errno || value < 1 || value > INT64_MAX)
        return false;
    *period = value;
    return true;
}

int event_parse_option(struct event_options *options, int option)
{
    if (option == 'e')
        return add_texts(options, optarg);
    if (option == OPTION_NO_CPU_SAMPLES) {
        options->no_cpu_samples = true;
        return 0;
    }
    if (option != OPTION_PERIOD)
        return -1;
    return parse_period(optarg, &options->period)
               ? 0
               : ui_usage("record", "'%s' is not a period: give a number of events per sample, at least 1", optarg);
}

int event_options_find(struct event_options *options)
{
    struct error err;
    if (options->period && !options->texts.length)
        return ui_usage("record", "--period needs -e, which is missing; -r sets the rate at which CPU time "
                                  "is sampled");
    if (options->no_cpu_samples && !options->texts.length)
        return ui_usage("record", "--no-cpu-samples leaves nothing to sample without -e");
    for (size_t i = 0; i < options->texts.length; i++) {
        int code = event_list_add(&options->list, options->texts.data[i], options->period, &err);
        if (code == -EINVAL)
            return ui_usage("record", "%s", err.text);
        if (code)
            return ui_fail_error(&err);
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
