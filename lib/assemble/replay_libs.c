#include "assemble/replay_libs.h"

#include "assemble/replay_rows.h"
#include "process/jit_files.h"
#include "spool/info.h"

bool replay_knows_lib(const struct replay *replay, uint32_t number)
{
    return number < replay->libs.items.length && replay->libs.items.data[number].path;
}

static bool copy_blob(struct arena *arena, struct spool_blob *blob)
{
    blob->bytes = (const unsigned char *)arena_copy(arena, (const char *)blob->bytes, blob->size);
    return blob->bytes;
}

int replay_add_lib(struct replay *replay, const struct spool_library *record, struct error *err)
{
    int is_there = REPLAY_ENSURE_ROW(replay, &replay->libs.items, record->library, err);
    if (is_there <= 0)
        return is_there;
    struct spool_library *lib = &replay->libs.items.data[record->library];
    *lib = *record;
    lib->path = arena_copy(&replay->libs.arena, lib->path, strlen(lib->path));
    bool is_copied = lib->path && copy_blob(&replay->libs.arena, &lib->build_id) &&
                     copy_blob(&replay->libs.arena, &lib->image_bytes);
    return is_copied ? 0 : error_no_memory(err);
}

int replay_add_load(struct replay *replay, const struct spool_mapping *mapping, struct error *err)
{
    if (replay->input.window || !replay_knows_lib(replay, mapping->library))
        return 0;
    const struct spool_library *lib = &replay->libs.items.data[mapping->library];
    if (lib->library_kind != SPOOL_LIB_FILE || jit_files_is_jitdump(lib->path) ||
        mapping->time_ns <= replay_get_info_number(replay, INFO_START_MONOTONIC, 0))
        return 0;
    uint64_t key = (uint64_t)mapping->process << 32 | mapping->library;
    if (replay->libs.loads.length >= REPLAY_LOADS) {
        replay->libs.more_loads++;
        return 0;
    }
    if (hash_get(&replay->libs.loaded, key) != HASH_MISSING)
        return 0;
    struct replay_load load = {.process = mapping->process, .lib = mapping->library, .time = mapping->time_ns};
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
