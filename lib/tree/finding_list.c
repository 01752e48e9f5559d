#include "tree/finding_list.h"

#include "tree/wait_names.h"

#include <stdarg.h>

const char *const finding_kind_names[FINDING_KINDS] = {
    [FINDING_PATH] = "critical-path",      [FINDING_WAIT] = "wait",
    [FINDING_RUNNABLE] = "runnable",       [FINDING_ONE_THREAD] = "one-thread",
    [FINDING_SERIAL_PART] = "serial-part", [FINDING_FUNCTION] = "hot-function",
    [FINDING_LINE] = "hot-line",           [FINDING_ALLOCATIONS] = "allocations",
    [FINDING_PAGE_FAULTS] = "page-faults", [FINDING_SYSTEM_CALLS] = "system-calls",
    [FINDING_UNNAMED] = "missing-names",   [FINDING_GOROUTINES] = "goroutines",
    [FINDING_LOST] = "lost-samples",
};

const char *get_run_part_name(const struct engine *engine, const struct run_part *part)
{
    const struct profile *profile = engine_get_profile(engine);
    if (part->kind != PART_CPU)
        return get_wait_reason_name(engine, part->index);
    return part->index == PROFILE_NONE ? "(no library)"
                                       : profile_text(profile, profile->resources.data[part->index].name);
}

int findings_add_sentence(struct findings *findings, struct finding finding, struct error *err, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    if (text_append(&finding.sentence, text, strlen(text) + 1) && array_push(&findings->list, finding))
        return 0;
    array_free(&finding.sentence);
    return error_no_memory(err);
}

void findings_destroy(struct findings *findings)
{
    for (size_t i = 0; i < findings->list.length; i++)
        array_free(&findings->list.data[i].sentence);
    array_free(&findings->list);
    array_free(&findings->parts);
    array_free(&findings->headline);
}
