#include "assemble/replay_libs.h"

#include "assemble/replay_rows.h"
#include "process/jit_files.h"
#include "spool/info.h"

#include <string.h>

bool replay_knows_lib(const struct replay *replay, uint32_t number)
{
    return number < replay->libs.items.length && replay->libs.items.data[number].path;
}

int replay_add_lib(struct replay *replay, const struct spool_event *event, struct error *err)
{
    int is_there = REPLAY_ENSURE_ROW(replay, &replay->libs.items, event->number, err);
    if (is_there <= 0)
        return is_there;
    struct spool_lib *lib = &replay->libs.items.data[event->number];
    *lib = event->lib;
    lib->path = arena_copy(&replay->libs.arena, lib->path, strlen(lib->path));
    lib->build_id =
        (const unsigned char *)arena_copy(&replay->libs.arena, (const char *)lib->build_id, lib->build_id_size);
    lib->image = (const unsigned char *)arena_copy(&replay->libs.arena, (const char *)lib->image, lib->image_size);
    return lib->path && lib->build_id && lib->image ? 0 : error_no_memory(err);
}

int replay_note_load(struct replay *replay, const struct spool_event *event, struct error *err)
{
    if (replay->input.window || event->number == SPOOL_NO_NUMBER || !replay_knows_lib(replay, event->lib_number) ||
        replay->libs.items.data[event->lib_number].kind != SPOOL_LIB_FILE ||
        jit_files_is_jitdump(replay->libs.items.data[event->lib_number].path) ||
        event->time <= replay_info_number(replay, INFO_START_MONOTONIC, 0))
        return 0;
    uint64_t key = (uint64_t)event->number << 32 | event->lib_number;
    if (replay->libs.loads.length >= REPLAY_LOADS) {
        replay->libs.more_loads++;
        return 0;
    }
    if (hash_get(&replay->libs.loaded, key) != HASH_MISSING)
        return 0;
    struct replay_load load = {.process = event->number, .lib = event->lib_number, .time = event->time};
    return hash_set(&replay->libs.loaded, key, 1) && array_push(&replay->libs.loads, load) ? 0 : error_no_memory(err);
}

int replay_map_kernel(struct replay *replay, const struct mapping *mapping, struct error *err)
{
    replay->libs.kernel_generation++;
    return mapping->start >= mapping->end || address_space_map(&replay->libs.kernel, mapping) ? 0
                                                                                              : error_no_memory(err);
}

void replay_libs_destroy(struct replay_libs *libs)
{
    array_free(&libs->items);
    arena_destroy(&libs->arena);
    array_free(&libs->loads);
    hash_destroy(&libs->loaded);
    address_space_destroy(&libs->kernel);
}
