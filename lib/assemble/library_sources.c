#include "assemble/library_sources.h"

#include "process/jit_files.h"

/* Whether the frame's library is an image of JIT code that prof made from a jitdump file. */
static bool is_jit_code(const struct profile *profile, size_t frame)
{
    uint32_t lib = profile->frames.lib[frame];
    return lib < profile->libs.length &&
           jit_files_is_jitdump_name(profile_text(profile, profile->libs.data[lib].debug_name));
}

void mark_library_sources(const struct profile *profile, size_t first_frame, bool *is_in_library)
{
    for (size_t i = first_frame; i < profile->frames.length; i++) {
        uint32_t source = profile->funcs.source[profile->frames.func[i]];
        if (source < profile->sources.length && profile->frames.address[i] >= 0 && !is_jit_code(profile, i))
            is_in_library[source] = true;
    }
}
