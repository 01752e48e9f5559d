#include "assemble/stable_numbers.h"

/* Returns a string of the profile as a string of `texts`. */
static uint32_t copy_text(const struct stable_numbers *numbers, struct profile *profile, uint32_t text)
{
    return strings_add_z(&profile->strings, strings_text(&numbers->texts, text));
}

int stable_numbers_add_funcs(const struct stable_numbers *numbers, struct interner *interner, struct error *err)
{
    struct profile *profile = interner->profile;
    for (size_t i = 0; i < numbers->funcs.length; i++) {
        const struct stable_func *func = &numbers->funcs.data[i];
        struct func_row row = {.name = copy_text(numbers, profile, func->name),
                               .resource = PROFILE_NONE,
                               .source = PROFILE_NONE,
                               .line = func->line,
                               .column = func->column,
                               .flags = func->flags};
        if (func->resource != STRING_NONE)
            row.resource = intern_library_resource(interner, copy_text(numbers, profile, func->resource));
        if (func->file != STRING_NONE)
            row.source = intern_source_file(interner, copy_text(numbers, profile, func->file));
        if (row.name == STRING_NONE || (func->resource != STRING_NONE && row.resource == PROFILE_NONE) ||
            (func->file != STRING_NONE && row.source == PROFILE_NONE) || intern_func(interner, &row) == PROFILE_NONE)
            return error_no_memory(err);
    }
    return 0;
}

/* STRING_NONE also if memory ran out. */
static uint32_t store_text(struct stable_numbers *numbers, const struct profile *profile, uint32_t string)
{
    return strings_add_z(&numbers->texts, strings_text(&profile->strings, string));
}

int stable_numbers_store_funcs(struct stable_numbers *numbers, const struct profile *profile, struct error *err)
{
    const struct func_table *funcs = &profile->funcs;
    for (size_t i = numbers->funcs.length; i < funcs->length; i++) {
        uint32_t resource = funcs->resource[i], source = funcs->source[i];
        struct stable_func func = {.name = store_text(numbers, profile, funcs->name[i]),
                                   .resource = STRING_NONE,
                                   .file = STRING_NONE,
                                   .line = funcs->line[i],
                                   .column = funcs->column[i],
                                   .flags = funcs->flags[i]};
        if (resource < profile->resources.length)
            func.resource = store_text(numbers, profile, profile->resources.data[resource].name);
        if (source < profile->sources.length)
            func.file = store_text(numbers, profile, profile->sources.data[source].filename);
        bool has_all = func.name != STRING_NONE &&
                       (resource >= profile->resources.length || func.resource != STRING_NONE) &&
                       (source >= profile->sources.length || func.file != STRING_NONE);
        if (!has_all || !array_push(&numbers->funcs, func))
            return error_no_memory(err);
    }
    return 0;
}

void stable_numbers_destroy(struct stable_numbers *numbers)
{
    strings_destroy(&numbers->texts);
    array_free(&numbers->funcs);
    array_free(&numbers->threads);
}
