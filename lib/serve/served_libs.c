#include "serve/served_libs.h"

#include "profile/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *keep(struct served_libs *libs, const char *text)
{
    return arena_copy(&libs->arena, text, strlen(text));
}

static uint32_t add_key(struct served_libs *libs, const struct named_library *lib)
{
    char *key;
    int length = asprintf(&key, "%s/%s", lib->debug_name, lib->breakpad_id);
    if (length < 0)
        return STRING_NONE;
    uint32_t index = strings_add(&libs->keys, key, (size_t)length);
    free(key);
    return index;
}

bool served_libs_add(struct served_libs *libs, const struct named_library *lib)
{
    uint32_t index = add_key(libs, lib);
    if (index < libs->rows.length)
        return true;
    struct named_library row = {.debug_name = keep(libs, lib->debug_name),
                                .breakpad_id = keep(libs, lib->breakpad_id),
                                .code_id = keep(libs, lib->code_id),
                                .path = keep(libs, lib->path)};
    return index != STRING_NONE && row.debug_name && row.breakpad_id && row.code_id && row.path &&
           array_push(&libs->rows, row);
}

static const char *text_of(const struct profile *profile, uint32_t string)
{
    return string == PROFILE_NONE ? "" : strings_text(&profile->strings, string);
}

int served_libs_load(struct served_libs *libs, int profile_fd, struct error *err)
{
    struct profile profile = {0};
    int result = profile_load_fd(profile_fd, &profile, err);
    for (size_t i = 0; result == 0 && i < profile.libs.length; i++) {
        const struct library *from = &profile.libs.data[i];
        struct named_library lib = {.debug_name = text_of(&profile, from->debug_name),
                                    .breakpad_id = text_of(&profile, from->breakpad_id),
                                    .code_id = text_of(&profile, from->code_id),
                                    .path = text_of(&profile, from->path)};
        if (!served_libs_add(libs, &lib))
            result = error_no_memory(err);
    }
    profile_destroy(&profile);
    return result;
}

uint32_t served_libs_find(const struct served_libs *libs, const char *key)
{
    return strings_find(&libs->keys, key, strlen(key));
}

uint32_t served_libs_find_code_id(const struct served_libs *libs, const char *code_id)
{
    for (size_t i = 0; *code_id && i < libs->rows.length; i++)
        if (strcmp(libs->rows.data[i].code_id, code_id) == 0)
            return (uint32_t)i;
    return SERVED_LIB_NONE;
}

void served_libs_destroy(struct served_libs *libs)
{
    array_free(&libs->rows);
    strings_destroy(&libs->keys);
    arena_destroy(&libs->arena);
}
