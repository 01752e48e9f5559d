#include "tree/marker_graph.h"

#include "base/json.h"
#include "tree/timeline_counters.h"

/* Returns NAN if the value is no number. */
static double read_number(const struct payload_value *value)
{
    struct json json;
    if (!value)
        return NAN;
    json_init_whole(&json, value->json, value->length);
    double number = json_next(&json) == JSON_NUMBER ? json.number : NAN;
    json_destroy(&json);
    return number;
}

int marker_points_read(struct marker_points *points, const struct marker_context *context,
                       const struct marker_list *list, uint32_t schema, const char *key, struct error *err)
{
    struct payload payload = {0};
    int code = 0;
    for (uint32_t i = 0; !code && i < list->length; i++) {
        const struct marker *marker = &list->data[i];
        if (marker->schema != schema)
            continue;
        code = payload_read(&payload, context->values.profile, marker, err);
        double value = code ? NAN : read_number(payload_find(&payload, key));
        const struct marker_point point = {marker->start, marker->end, value, i};
        if (isfinite(value) && !array_push(points, point))
            code = error_no_memory(err);
    }
    payload_destroy(&payload);
    return code;
}

void draw_marker_graph(const struct marker_points *points, bool is_bar, double from, double to, float *values,
                       uint32_t *markers, uint32_t width)
{
    struct pixel_values pixels = {.values = values, .whose = markers, .width = width};
    bool is_empty = !(to > from);
    pixel_values_start(&pixels, from, is_empty ? from + 1 : to);
    for (size_t i = 0; !is_empty && i < points->length && points->data[i].start < to; i++) {
        const struct marker_point *point = &points->data[i];
        bool lasts = !is_bar && i + 1 < points->length;
        pixel_values_raise(&pixels, point->start, lasts ? points->data[i + 1].start : point->end, point->value,
                           point->marker);
    }
}
