#include "tree/interval_json.h"

#include "tree/wait_names.h"

static void write_name(struct json_writer *json, const struct engine *engine, const struct interval_list *list,
                       size_t row)
{
    const struct interval_stats *stats = &list->names.data[row];
    json_open(json, '{');
    json_member_text(json, "name", profile_text(engine_get_profile(engine), stats->name));
    json_member_double(json, "count", stats->count);
    json_member_double(json, "p50_ms", stats->p50);
    json_member_double(json, "p90_ms", stats->p90);
    json_member_double(json, "p99_ms", stats->p99);
    json_member_double(json, "total_ms", stats->total);
    json_member_open(json, "longest", '{');
    json_member_double(json, "ms", stats->longest);
    json_member_double(json, "from_ms", stats->from);
    json_member_double(json, "thread", stats->thread);
    json_close(json, '}');
    json_member_double(json, "running_ms", stats->running);
    json_member_double(json, "unknown_ms", stats->rest);
    json_member_open(json, "waits_ms", '{');
    for (size_t i = 0; i < list->reasons; i++)
        if (get_interval_waits(list, row)[i] > 0)
            json_member_double(json, get_wait_reason_name(engine, (uint32_t)i), get_interval_waits(list, row)[i]);
    json_close(json, '}');
    json_member_open(json, "histogram", '[');
    for (size_t i = 0; i < INTERVAL_BUCKETS; i++)
        if (stats->histogram[i]) {
            json_open(json, '{');
            json_member_double(json, "from_ms", ldexp(1, (int)i + INTERVAL_FIRST_OCTAVE));
            json_member_double(json, "count", stats->histogram[i]);
            json_close(json, '}');
        }
    json_close(json, ']');
    json_close(json, '}');
}

void interval_list_write(struct json_writer *json, const struct engine *engine, const struct interval_list *list)
{
    json_open(json, '[');
    for (size_t i = 0; i < list->names.length; i++)
        write_name(json, engine, list, i);
    json_close(json, ']');
}
