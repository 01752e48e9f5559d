#include "assemble/lock_names.h"

#include "assemble/library_frames.h"
#include "base/utf8.h"

static bool is_lock(const struct replay_frame *frame)
{
    return frame->lib == REPLAY_LIB_WAIT && frame->code;
}

/* Adds the places of locks in libraries whose code is on a stack: prof reads the symbols of these libraries anyway. */
static bool list_places(struct address_batches *batches, const struct recorded_libs *libs, size_t first)
{
    const struct replay *replay = libs->replay;
    const struct replay_stacks *stacks = &replay->stacks;
    bool *has_code = calloc(replay->libs.items.length + 1, sizeof(*has_code)), done = has_code != NULL;
    for (size_t i = 0; done && i < stacks->frames.length; i++)
        if (library_frames_has(replay, &stacks->frames.data[i]))
            has_code[stacks->frames.data[i].lib] = true;
    for (size_t i = first; done && i < stacks->frames.length; i++) {
        const struct replay_frame *frame = &stacks->frames.data[i];
        const struct replay_lock *lock = is_lock(frame) ? &stacks->locks.data[frame->code - 1] : NULL;
        if (lock && has_code[lock->lib])
            done = address_batches_add(batches, lock->lib, lock->rva, (uint32_t)i);
    }
    free(has_code);
    return done && address_batches_make(batches, library_frames_describe_lib, libs);
}

/* Returns a string of the profile. */
static uint32_t name_lock(struct profile *profile, const struct symbol_lib *lib, const struct symbol_answer *variable,
                          uint64_t rva)
{
    char text[512], offset[32] = "";
    bool is_shared = lib->name && strstr(lib->name, ".so");
    const char *library = is_shared ? lib->name : "";
    if (rva > variable->symbol_address)
        snprintf(offset, sizeof(offset), "+%" PRIu64, rva - variable->symbol_address);
    snprintf(text, sizeof(text), "lock %.*s%s%s%.*s", utf8_cut(variable->symbol, 300), variable->symbol, offset,
             is_shared ? " in " : "", utf8_cut(library, 100), library);
    return strings_add_z(&profile->strings, text);
}

static int name_locks(struct lock_names *names, const struct address_batches *batches, struct profile *profile,
                      struct error *err)
{
    for (size_t i = 0; i < batches->jobs.length; i++)
        for (size_t k = batches->first.data[i]; k < batches->first.data[i + 1]; k++) {
            const struct batch_address *address = &batches->addresses.data[k];
            const struct symbol_answer *variable = address_batches_get_answer(batches, i, k);
            if (!variable->symbol)
                continue;
            uint32_t name = name_lock(profile, &batches->jobs.data[i].lib, variable, address->rva);
            if (name == STRING_NONE)
                return error_no_memory(err);
            names->names[address->requester - names->first] = name;
        }
    return 0;
}

int lock_names_find(struct lock_names *names, const struct recorded_libs *libs, struct symbolizer *symbolizer,
                    struct profile *profile, size_t first, struct error *err)
{
    const struct replay_stacks *stacks = &libs->replay->stacks;
    struct address_batches batches = {0};
    bool has_locks = false;
    for (size_t i = first; !has_locks && i < stacks->frames.length; i++)
        has_locks = is_lock(&stacks->frames.data[i]);
    if (!has_locks)
        return 0;
    size_t count = stacks->frames.length - first;
    names->first = first;
    names->names = malloc(count * sizeof(*names->names));
    int code = names->names && list_places(&batches, libs, first) ? 0 : error_no_memory(err);
    for (size_t i = 0; !code && i < count; i++)
        names->names[i] = STRING_NONE;
    if (!code)
        code = symbolizer_lookup_data(symbolizer, batches.jobs.data, batches.jobs.length, err);
    if (!code)
        code = name_locks(names, &batches, profile, err);
    address_batches_destroy(&batches);
    return code;
}

const char *lock_names_get(const struct lock_names *names, const struct profile *profile, size_t frame)
{
    uint32_t name = names->names && frame >= names->first ? names->names[frame - names->first] : STRING_NONE;
    return name == STRING_NONE ? NULL : strings_text(&profile->strings, name);
}

void lock_names_destroy(struct lock_names *names)
{
    free(names->names);
    *names = (struct lock_names){0};
}
