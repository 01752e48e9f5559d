#include "tree/samply_waits.h"

static const char kind_name[] = "OnCpu";

uint32_t find_on_cpu_schema(const struct marker_schemas *schemas)
{
    return marker_schemas_find(schemas, kind_name, sizeof(kind_name) - 1);
}

static bool is_text(const struct text_buffer *text, const char *wanted)
{
    return text->length == strlen(wanted) && memcmp(text->data, wanted, text->length) == 0;
}

/* Reads why the thread left the CPU at the end of the marker. */
static int read_reason(const struct marker_context *context, const struct marker *marker, struct payload *payload,
                       struct text_buffer *text, enum wait_state *state, struct error *err)
{
    *state = WAIT_OTHER;
    text->length = 0;
    int code = payload_read(payload, context->values.profile, marker, err);
    const struct payload_value *value = code ? NULL : payload_find(payload, "outwhy");
    if (!value)
        return code;
    if (!value_text_append(text, &context->values, "unique-string", value->json, value->length))
        return error_no_memory(err);
    if (is_text(text, "preempted"))
        *state = WAIT_RUNNABLE;
    else if (is_text(text, "blocked"))
        *state = WAIT_BLOCKED;
    return 0;
}

struct waits_writer {
    struct marker_rects *rects;
    double *totals;
    const struct marker_window *window;
    double passed; /* end of the last drawn rect, ms */
};

static bool add_span(struct waits_writer *writer, enum wait_state state, uint32_t marker, double start, double end)
{
    double from = fmax(start, writer->window->from), to = fmin(end, writer->window->to);
    if (!(to > from))
        return true;
    writer->totals[state] += to - from;
    if (end <= writer->passed)
        return true;
    writer->passed = fmax(end, start + writer->window->pixel);
    return marker_rects_add(writer->rects, state, marker, 1, start, end);
}

int list_on_cpu_rects(struct marker_rects *rects, double totals[WAIT_STATES], const struct marker_context *context,
                      const struct marker_list *list, const struct marker_window *window, struct error *err)
{
    struct waits_writer writer = {rects, totals, window, -INFINITY};
    uint32_t schema = find_on_cpu_schema(context->schemas), last = UINT32_MAX;
    struct payload payload = {0};
    struct text_buffer text = {0};
    int code = 0;
    rects->length = 0;
    memset(totals, 0, WAIT_STATES * sizeof(*totals));
    for (uint32_t i = 0; !code && schema != SCHEMA_NONE && i < list->length; i++) {
        const struct marker *marker = &list->data[i];
        if (marker->schema != schema || marker->kind != MARKER_INTERVAL)
            continue;
        const struct marker *before = last == UINT32_MAX ? NULL : &list->data[last];
        bool is_in_view = marker->end > window->from && (!before || before->end < window->to);
        enum wait_state state = WAIT_OTHER;
        if (before && is_in_view)
            code = read_reason(context, before, &payload, &text, &state, err);
        if (!code && ((before && !add_span(&writer, state, last, before->end, marker->start)) ||
                      !add_span(&writer, WAIT_RUNS, i, marker->start, marker->end)))
            code = error_no_memory(err);
        last = i;
        if (marker->start >= window->to)
            break;
    }
    payload_destroy(&payload);
    array_free(&text);
    return code;
}
