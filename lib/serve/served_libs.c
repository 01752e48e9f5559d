#include "serve/served_libs.h"

#include "assemble/library_sources.h"
#include "assemble/profile_addresses.h"
#include "file/profile_file.h"

static const char *copy_key(struct served_libs *libs, const char *text)
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
    struct named_library row = {.debug_name = copy_key(libs, lib->debug_name),
                                .breakpad_id = copy_key(libs, lib->breakpad_id),
                                .code_id = copy_key(libs, lib->code_id),
                                .path = copy_key(libs, lib->path)};
    return index != STRING_NONE && row.debug_name && row.breakpad_id && row.code_id && row.path &&
           array_push(&libs->rows, row);
}

/* ---- scripts ---- */

const char *get_script_path(const char *file)
{
    static const char scheme[] = "file://";
    return strncmp(file, scheme, strlen(scheme)) == 0 ? file + strlen(scheme) : file;
}

/* Returns whether the path has the extension of a script: an untrusted profile must not name other files, such as
 * private keys. */
static bool is_script(const char *file)
{
    static const char *const endings[] = {".js",  ".mjs", ".cjs",  ".jsx", ".ts",    ".mts", ".cts", ".tsx", ".py",
                                          ".lua", ".rb",  ".java", ".kt",  ".scala", ".clj", ".cs",  ".fs",  ".php"};
    const char *ending = strrchr(file, '.');
    if (get_script_path(file)[0] != '/' || !ending)
        return false;
    for (size_t i = 0; i < sizeof(endings) / sizeof(*endings); i++)
        if (strcmp(ending, endings[i]) == 0)
            return true;
    return false;
}

static int add_scripts(struct served_libs *libs, const struct profile *profile, struct error *err)
{
    bool *is_in_library = calloc(profile->sources.length + 1, sizeof(*is_in_library));
    bool enough = is_in_library != NULL;
    if (enough)
        mark_library_sources(profile, 0, is_in_library);
    for (size_t i = 0; enough && i < profile->sources.length; i++) {
        const char *file = profile_text(profile, profile->sources.data[i].filename);
        enough = is_in_library[i] || !is_script(file) || strings_add_z(&libs->scripts, file) != STRING_NONE;
    }
    free(is_in_library);
    return enough ? 0 : error_no_memory(err);
}

int served_libs_add_profile(struct served_libs *libs, const struct profile *profile, struct error *err)
{
    for (size_t i = 0; i < profile->libs.length; i++) {
        struct named_library lib = get_saved_library(profile, (uint32_t)i);
        if (!served_libs_add(libs, &lib))
            return error_no_memory(err);
    }
    return add_scripts(libs, profile, err);
}

int served_libs_load(struct served_libs *libs, int profile_fd, const atomic_bool *stop, struct error *err)
{
    struct profile profile = {0};
    int code = profile_load_fd(profile_fd, stop, &profile, err);
    if (code == 0)
        code = served_libs_add_profile(libs, &profile, err);
    profile_destroy(&profile);
    return code;
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
    strings_destroy(&libs->scripts);
    arena_destroy(&libs->arena);
}
