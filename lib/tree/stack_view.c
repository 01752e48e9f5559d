#include "tree/stack_view.h"

enum { MAX_CATEGORIES = UINT16_MAX };

static uint16_t find_category_of_stack(const struct stack_view *view, const struct frame_table *frames, uint32_t prefix,
                                       uint32_t frame)
{
    uint32_t category = frames->category[frame];
    if (category < view->category_count)
        return (uint16_t)category;
    return prefix == PROFILE_NONE ? (uint16_t)view->default_category : view->category[prefix];
}

int stack_view_init(struct stack_view *view, const struct profile *profile, struct error *err)
{
    size_t length = profile->stacks.length;
    size_t categories = profile->categories.length;
    *view = (struct stack_view){.prefix = profile->stacks.prefix, .frame = profile->stacks.frame, .length = length};
    view->func_count = get_resource_func(profile, (uint32_t)profile->resources.length);
    view->owns_func = view->owns_category = true;
    view->category_count = categories == 0 ? 1 : categories < MAX_CATEGORIES ? (uint32_t)categories : MAX_CATEGORIES;
    uint32_t fallback = profile_find_default_category(profile);
    view->default_category = fallback < view->category_count ? fallback : 0;
    view->func = malloc((length + 1) * sizeof(*view->func));
    view->category = malloc((length + 1) * sizeof(*view->category));
    if (!view->func || !view->category) {
        stack_view_destroy(view);
        return error_no_memory(err);
    }
    for (size_t stack = 0; stack < length; stack++) {
        uint32_t frame = profile->stacks.frame[stack];
        view->func[stack] = profile->frames.func[frame];
        view->category[stack] = find_category_of_stack(view, &profile->frames, profile->stacks.prefix[stack], frame);
    }
    return 0;
}

int stack_view_derive(struct stack_view *view, const struct stack_view *base, struct error *err)
{
    *view = *base;
    view->owns_func = view->owns_category = false;
    view->prefix = malloc((base->length + 1) * sizeof(*view->prefix));
    if (!view->prefix) {
        *view = (struct stack_view){0};
        return error_no_memory(err);
    }
    view->owns_prefix = true;
    if (base->length)
        memcpy(view->prefix, base->prefix, base->length * sizeof(*view->prefix));
    return 0;
}

void stack_view_destroy(struct stack_view *view)
{
    if (view->owns_prefix)
        free(view->prefix);
    if (view->owns_func)
        free(view->func);
    if (view->owns_category)
        free(view->category);
    free(view->leaf);
    free(view->used);
    *view = (struct stack_view){0};
}

/* ---- names ---- */

struct func_names get_func_names(const struct profile *profile, uint32_t func)
{
    struct func_names names = {.name = PROFILE_NONE,
                               .lib = PROFILE_NONE,
                               .lib_path = PROFILE_NONE,
                               .file = PROFILE_NONE,
                               .resource = PROFILE_NONE};
    if (func >= profile->funcs.length) {
        uint32_t resource = func - get_resource_func(profile, 0);
        if (resource < profile->resources.length) {
            names.resource = resource;
            names.name = profile->resources.data[resource].name;
        }
        return names;
    }
    uint32_t resource = profile->funcs.resource[func], source = profile->funcs.source[func];
    names.name = profile->funcs.name[func];
    names.line = profile->funcs.line[func];
    if (resource < profile->resources.length) {
        names.resource = resource;
        names.lib = profile->resources.data[resource].name;
    }
    if (source < profile->sources.length)
        names.file = profile->sources.data[source].filename;
    return names;
}
