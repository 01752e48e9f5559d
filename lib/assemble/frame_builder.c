#include "assemble/frame_builder.h"

#include "spool/wait_reasons.h"
#include "spool/info.h"

static const char *const categories[CATEGORY_COUNT][2] = {
    [CATEGORY_OTHER] = {"Other", "grey"},     [CATEGORY_USER] = {"User", "yellow"},
    [CATEGORY_LIBRARY] = {"Library", "blue"}, [CATEGORY_JIT] = {"JIT", "green"},
    [CATEGORY_KERNEL] = {"Kernel", "orange"}, [CATEGORY_IDLE] = {"Idle", "transparent"},
};

uint32_t frame_builder_add_text(struct frame_builder *builder, const char *text)
{
    return strings_add_z(&builder->profile->strings, text);
}

uint32_t frame_builder_add_frame(struct frame_builder *builder, const char *name, uint32_t resource, uint32_t category,
                                 uint32_t subcategory)
{
    struct func_row func = {
        .name = frame_builder_add_text(builder, name), .resource = resource, .source = PROFILE_NONE};
    struct frame_row frame =
        make_frame_row(func.name == STRING_NONE ? PROFILE_NONE : intern_func(builder->interner, &func));
    frame.category = category;
    frame.subcategory = subcategory;
    return frame.func == PROFILE_NONE || subcategory == PROFILE_NONE ? PROFILE_NONE
                                                                     : intern_frame(builder->interner, &frame);
}

uint32_t frame_builder_add_plain_frame(struct frame_builder *builder, const char *name, uint32_t resource,
                                       uint32_t category)
{
    return frame_builder_add_frame(builder, name, resource, category, 0);
}

bool frame_builder_add_categories(struct frame_builder *builder)
{
    bool has_waits = replay_get_info_number(builder->replay, INFO_OFF_CPU, 0) || builder->replay->samples.waits;
    for (size_t i = 0; i < CATEGORY_COUNT; i++)
        if ((i != CATEGORY_IDLE || has_waits) &&
            intern_category(builder->interner, categories[i][0], categories[i][1]) == PROFILE_NONE)
            return false;
    for (size_t i = 0; has_waits && i < WAIT_REASONS; i++)
        if (intern_subcategory(builder->interner, CATEGORY_IDLE, wait_reason_names[i]) == PROFILE_NONE)
            return false;
    return true;
}

bool frame_builder_add_problem(struct frame_builder *builder, const char *library, const char *reason)
{
    struct symbolization_problem problem = {.library = frame_builder_add_text(builder, library),
                                            .reason = frame_builder_add_text(builder, reason)};
    const struct symbolization *symbolization = builder->symbolization;
    for (size_t i = 0; builder->first && i < symbolization->problems.length; i++)
        if (symbolization->problems.data[i].library == problem.library &&
            symbolization->problems.data[i].reason == problem.reason)
            return true;
    return problem.library != STRING_NONE && problem.reason != STRING_NONE &&
           array_push(&builder->symbolization->problems, problem);
}

bool frame_builder_add_missing(struct frame_builder *builder, const struct missing_symbols *missing)
{
    struct symbolization *symbolization = builder->symbolization;
    for (size_t i = 0; builder->first && i < symbolization->missing_symbols.length; i++) {
        struct missing_symbols *known = &symbolization->missing_symbols.data[i];
        if (known->library != missing->library)
            continue;
        known->unnamed += missing->unnamed;
        known->samples += missing->samples;
        known->is_partial &= missing->is_partial;
        return true;
    }
    return missing->library != STRING_NONE && array_push(&symbolization->missing_symbols, *missing);
}
