#include "tree/wait_json.h"

#include "tree/stack_view.h"

void longest_wait_write(struct json_writer *json, const struct longest_wait *longest)
{
    if (!(longest->ms > 0))
        return;
    json_member_open(json, "longest", '{');
    json_member_double(json, "ms", longest->ms);
    json_member_double(json, "from_ms", longest->from);
    json_member_double(json, "to_ms", longest->to);
    json_member_double(json, "thread", longest->thread);
    json_close(json, '}');
}

void wait_place_write(struct json_writer *json, const char *key, const struct profile *profile, uint32_t func,
                      uint32_t line)
{
    if (func == PROFILE_NONE)
        return;
    struct func_names names = get_func_names(profile, func);
    json_member_open(json, key, '{');
    json_member_text(json, "function", profile_text(profile, names.name));
    if (names.file != PROFILE_NONE)
        json_member_text(json, "file", profile_text(profile, names.file));
    if (line)
        json_member_double(json, "line", line);
    json_close(json, '}');
}
