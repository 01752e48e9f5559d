#include "assemble/replay_names.h"

#include "assemble/replay_rows.h"
#include "language/python_frame.h"

int replay_add_object(struct replay *replay, const struct spool_event *event, struct error *err)
{
    if (!event->number || !replay_is_possible(replay, event->number)) {
        replay->spool.damaged_blocks++;
        return 0;
    }
    while (replay->objects.length < event->number)
        if (!array_push(&replay->objects, STRING_NONE))
            return error_no_memory(err);
    uint32_t *name = &replay->objects.data[event->number - 1];
    *name = strings_add_z(&replay->strings, event->name);
    return *name == STRING_NONE ? error_no_memory(err) : 0;
}

int replay_add_python_function(struct replay *replay, const struct spool_event *event, struct error *err)
{
    if (!replay_is_possible(replay, event->number)) {
        replay->spool.damaged_blocks++;
        return 0;
    }
    while (replay->python_functions.length <= event->number)
        if (!array_push(&replay->python_functions, (struct replay_function){STRING_NONE, STRING_NONE, 0}))
            return error_no_memory(err);
    struct replay_function *function = &replay->python_functions.data[event->number];
    function->name = strings_add_z(&replay->strings, event->name);
    function->file = strings_add_z(&replay->strings, event->value);
    function->line = event->count <= PYTHON_LINE_MAX ? (uint32_t)event->count : 0;
    return function->name == STRING_NONE || function->file == STRING_NONE ? error_no_memory(err) : 0;
}

const char *replay_object(const struct replay *replay, uint32_t number)
{
    bool is_known = number && number <= replay->objects.length && replay->objects.data[number - 1] != STRING_NONE;
    return is_known ? strings_text(&replay->strings, replay->objects.data[number - 1]) : NULL;
}
