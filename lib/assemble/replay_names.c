#include "assemble/replay_names.h"

#include "assemble/replay_rows.h"
#include "language/python_frame.h"

int replay_add_object(struct replay *replay, const struct spool_object *object, struct error *err)
{
    if (!object->object || !replay_is_possible(replay, object->object)) {
        replay->spool.damaged_blocks++;
        return 0;
    }
    while (replay->objects.length < object->object)
        if (!array_push(&replay->objects, STRING_NONE))
            return error_no_memory(err);
    uint32_t *name = &replay->objects.data[object->object - 1];
    *name = strings_add_z(&replay->strings, object->name);
    return *name == STRING_NONE ? error_no_memory(err) : 0;
}

int replay_add_python_function(struct replay *replay, const struct spool_python_function *record, struct error *err)
{
    if (!replay_is_possible(replay, record->function)) {
        replay->spool.damaged_blocks++;
        return 0;
    }
    while (replay->python_functions.length <= record->function)
        if (!array_push(&replay->python_functions, (struct replay_function){STRING_NONE, STRING_NONE, 0}))
            return error_no_memory(err);
    struct replay_function *function = &replay->python_functions.data[record->function];
    function->name = strings_add_z(&replay->strings, record->name);
    function->file = strings_add_z(&replay->strings, record->file);
    function->line = record->line <= PYTHON_LINE_MAX ? (uint32_t)record->line : 0;
    return function->name == STRING_NONE || function->file == STRING_NONE ? error_no_memory(err) : 0;
}

const char *replay_get_object(const struct replay *replay, uint32_t number)
{
    bool is_known = number && number <= replay->objects.length && replay->objects.data[number - 1] != STRING_NONE;
    return is_known ? strings_text(&replay->strings, replay->objects.data[number - 1]) : NULL;
}
