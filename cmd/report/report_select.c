/*
 * Selects the threads and the range given by the options, and queries the engine.
 */
#include "cmd/report/report_select.h"

#include "cmd/report/report_text.h"

#include "cmd/common/ui.h"

static int choose_threads(struct report *report)
{
    for (size_t i = 0; i < report->options.threads.length; i++) {
        int status = selection_find_threads(report->profile, report->options.path, report->options.threads.data[i],
                                            &report->threads);
        if (status)
            return status;
    }
    for (uint32_t i = 0; !report->options.threads.length && i < report->profile->threads.length; i++)
        if (!array_push(&report->threads, i))
            return ui_fail("out of memory");
    return EXIT_SUCCESS;
}

static void choose_range(struct report *report)
{
    struct time_range full = engine_get_full_range(report->engine);
    report->range = full;
    if (!isnan(report->options.from))
        report->range.from = full.from + report->options.from * 1000;
    if (!isnan(report->options.to))
        report->range.to = full.from + report->options.to * 1000;
}

/* Prints an error with the weights of the profile: "recorded, time or cpu-time". */
static int print_unknown_weight(const struct report *report, const struct weight_list *weights)
{
    char list[REPORT_LINE_SIZE] = "";
    for (size_t i = 0; i < weights->length; i++)
        report_append_format(list, "%s%s", i == 0 ? "" : i + 1 < weights->length ? ", " : " or ", weights->data[i].id);
    return ui_usage(report->options.table->command, "%s has no weight '%s'; give %s", report->options.path,
                    report->options.weight, list);
}

static int choose_weight(struct report *report)
{
    struct weight_list weights = {0};
    struct error err = {0};
    const char *id = report->options.kind == REPORT_WAITS           ? "off-cpu-time"
                     : report->options.kind == REPORT_CRITICAL_PATH ? "time"
                                                                    : report->options.weight;
    bool has_intervals = report->options.compared.splits || report->options.compared.has_markers;
    if (!id && has_intervals && engine_has_waits(report->engine))
        id = "time"; /* what intervals last */
    if (list_weights(&weights, report->profile, &err))
        return ui_fail_with_error(&err);
    int status = EXIT_SUCCESS;
    bool is_known = true;
    if (!id && weights.length)
        report->weight = weights.data[0];
    else
        is_known = find_weight_by_id(report->profile, id ? id : "recorded", &report->weight);
    if (!is_known ||
        (report->weight.table != TABLE_SAMPLES && !profile_offers_weight(report->profile, &report->weight)))
        status = print_unknown_weight(report, &weights);
    else if (weight_needs_cpu_times(report->weight.kind) && !profile_has_weight(report->profile, WEIGH_CPU_TIME))
        status = ui_fail("%s does not record when its threads were on a CPU", report->options.path);
    array_free(&weights);
    return status;
}

int report_apply_selection(struct report *report)
{
    int status = choose_weight(report);
    if (!status)
        status = choose_threads(report);
    if (!status)
        choose_range(report);
    return status;
}

struct tree_query report_make_query(const struct report *report)
{
    bool whole = isnan(report->options.from) && isnan(report->options.to);
    bool is_of_markers = report->options.kind == REPORT_MARKERS || report->options.kind == REPORT_INTERVALS;
    return (struct tree_query){.threads = report->threads.data,
                               .thread_count = report->threads.length,
                               .range = whole ? whole_time : report->range,
                               .transforms = report->transforms.data,
                               .transform_count = report->transforms.length,
                               .search = report->options.search,
                               .search_length = is_of_markers ? 0 : strlen(report->options.search),
                               .inverted = report->options.inverted,
                               .weight = report->weight.kind,
                               .table = report->weight.table};
}

int report_query_engine(struct report *report, struct error *err)
{
    struct tree_query query = report_make_query(report);
    int code = engine_set_query(report->engine, &query, err);
    const struct timings *timings = engine_get_timings(report->engine);
    report->total = code ? 0 : timings->root_total;
    for (int side = 0; !code && timings->sides && side < PROFILE_SIDES; side++)
        report->side_totals[side] = timings->sides[side].root_total;
    return code;
}

bool report_is_filtered(const struct report *report)
{
    const struct report_options *options = &report->options;
    return options->threads.length || options->transforms.length || options->search[0] || !isnan(options->from) ||
           !isnan(options->to);
}
