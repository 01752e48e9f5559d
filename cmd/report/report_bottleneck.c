#include "cmd/report/report_bottleneck.h"

#include "tree/wait_groups.h"

int report_describe_bottleneck(const struct report *report, struct text_buffer *text, struct error *err)
{
    static const double large = 1.0 / 3;
    struct critical_path path = {0};
    struct path_parts parts = {0};
    if (!profile_has_wakers(report->profile) || !report->threads.length)
        return 0;
    uint32_t thread = report->threads.data[0];
    int code = critical_path_find(&path, report->profile, thread, report->range, err);
    if (!code)
        code = critical_path_parts(report->engine, &path, thread, &parts, err);
    bool is_hint = !code && parts.length && parts.data[0].waiter != PROFILE_NONE &&
                   parts.data[0].ms > large * (report->range.to - report->range.from);
    if (is_hint)
        code = path_parts_append_sentence(text, report->engine, &parts, thread, 1, err);
    if (is_hint && !code && !text_append_z(text, " --critical-path shows when."))
        code = error_no_memory(err);
    array_free(&path);
    array_free(&parts);
    return code;
}
