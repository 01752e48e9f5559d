#include "assemble/kernel_frames.h"

#include "spool/info.h"
#include "symbol/kallsyms.h"

/* Addresses outside the kernel's image and modules at the start of the recording may be in code loaded later, such
 * as BPF programs and modules. */
int kernel_frames_open(struct frame_builder *builder, struct symbolizer *symbolizer, struct error *err)
{
    const struct replay *replay = builder->replay;
    const char *boot = replay_get_info(replay, INFO_BOOT);
    char boot_now[64];
    bool is_wanted = false;
    for (size_t i = builder->first; i < replay->stacks.frames.length && !is_wanted; i++)
        is_wanted = replay->stacks.frames.data[i].lib == REPLAY_LIB_UNKNOWN_KERNEL;
    if (!is_wanted || !boot || !info_read_boot(boot_now, sizeof(boot_now)) || strcmp(boot, boot_now) != 0)
        return 0;
    return symbolizer_load_kallsyms(symbolizer, &builder->kallsyms, err);
}

static uint32_t add_kernel_code(struct frame_builder *builder, const char *name, const char *module)
{
    char library[128];
    snprintf(library, sizeof(library), "[%s]", module ? module : "kernel.kallsyms");
    uint32_t text = frame_builder_add_text(builder, library);
    uint32_t resource = text == STRING_NONE ? PROFILE_NONE : intern_library_resource(builder->interner, text);
    return resource == PROFILE_NONE ? PROFILE_NONE
                                    : frame_builder_add_plain_frame(builder, name, resource, CATEGORY_KERNEL);
}

bool kernel_frames_list_unnamed(struct frame_builder *builder)
{
    if (!builder->kernel_unnamed)
        return true;
    bool is_hidden = builder->kallsyms && builder->kallsyms->problem[0];
    struct missing_symbols missing = {.library = frame_builder_add_text(builder, "the kernel"),
                                      .reason = is_hidden ? MISSING_SYMBOLS_NOT_READABLE : MISSING_SYMBOLS_STRIPPED,
                                      .unnamed = builder->kernel_unnamed,
                                      .samples = builder->kernel_samples};
    return frame_builder_add_missing(builder, &missing) &&
           frame_builder_add_problem(builder, "the kernel",
                                     is_hidden ? builder->kallsyms->problem
                                               : "the program removed some of its code before the recording ended");
}

/* Adds the frame of an unknown kernel address. All addresses without a name share one func, because a kernel address is
 * useless to a user. */
uint32_t kernel_frames_add_unknown(struct frame_builder *builder, uint64_t address)
{
    const struct kernel_symbol *symbol = builder->kallsyms ? kallsyms_find_anywhere(builder->kallsyms, address) : NULL;
    builder->symbolization->addresses++;
    builder->symbolization->shares_frames = true;
    if (symbol)
        return add_kernel_code(builder, builder->kallsyms->text + symbol->name,
                               kallsyms_get_module(builder->kallsyms, symbol));
    builder->symbolization->unnamed++;
    builder->kernel_unnamed++;
    return add_kernel_code(builder, "kernel code (no symbols)", NULL);
}

uint32_t kernel_frames_add_generated(struct frame_builder *builder, const struct spool_library *code)
{
    builder->symbolization->addresses++;
    builder->symbolization->shares_frames = true;
    return add_kernel_code(builder, code->path, strncmp(code->path, "bpf_", 4) == 0 ? "bpf" : NULL);
}
