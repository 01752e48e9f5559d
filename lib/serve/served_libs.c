#include "serve/served_libs.h"

#include "profile/file.h"
#include "symbol/elf_file.h"
#include "symbol/library_id.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *keep(struct served_libs *libs, const char *text)
{
    return arena_copy(&libs->arena, text, strlen(text));
}

static uint32_t add_key(struct served_libs *libs, const struct served_lib *lib)
{
    char *key;
    int length = asprintf(&key, "%s/%s", lib->debug_name, lib->breakpad_id);
    if (length < 0)
        return STRING_NONE;
    uint32_t index = strings_add(&libs->keys, key, (size_t)length);
    free(key);
    return index;
}

bool served_libs_add(struct served_libs *libs, const struct served_lib *lib)
{
    uint32_t index = add_key(libs, lib);
    if (index < libs->rows.length)
        return true;
    struct served_lib row = {.debug_name = keep(libs, lib->debug_name),
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
        struct served_lib lib = {.debug_name = text_of(&profile, from->debug_name),
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

void served_libs_destroy(struct served_libs *libs)
{
    array_free(&libs->rows);
    strings_destroy(&libs->keys);
    arena_destroy(&libs->arena);
}

/* ---- which file it is ---- */

static int hex_digit(char character)
{
    if (character >= '0' && character <= '9')
        return character - '0';
    if (character >= 'a' && character <= 'f')
        return character - 'a' + 10;
    return -1;
}

/* The number of bytes, or 0 if the text is no build id. */
static size_t parse_code_id(const char *text, unsigned char *out, size_t max)
{
    size_t size = 0;
    for (; text[0] && text[1]; text += 2) {
        int high = hex_digit(text[0]), low = hex_digit(text[1]);
        if (high < 0 || low < 0 || size == max)
            return 0;
        out[size++] = (unsigned char)(high << 4 | low);
    }
    return *text ? 0 : size;
}

/* Whether the file at the path has the breakpad id of the profile; then also its build id, of size 0 if that id was
 * made from its code. */
static bool file_fits(const struct served_lib *lib, unsigned char *build_id, size_t *size)
{
    struct elf_file file;
    unsigned char text_id[16];
    char breakpad_id[BREAKPAD_ID_SIZE] = "";
    if (lib->path[0] != '/' || elf_file_open(&file, lib->path, NULL) != 0)
        return false;
    *size = file.build_id_size;
    memcpy(build_id, file.build_id, file.build_id_size);
    if (file.build_id_size)
        library_breakpad_id(file.build_id, file.build_id_size, breakpad_id);
    else if (library_text_id(&file, text_id))
        library_breakpad_id(text_id, sizeof(text_id), breakpad_id);
    elf_file_close(&file);
    return breakpad_id[0] && strcmp(breakpad_id, lib->breakpad_id) == 0;
}

int served_lib_identify(const struct served_lib *lib, struct identified_lib *out, struct error *err)
{
    size_t size = parse_code_id(lib->code_id, out->build_id, sizeof(out->build_id));
    if (size == 0 && !file_fits(lib, out->build_id, &size))
        return error_set(err, ENOENT, "no file has the id that the profile gives for %s", lib->debug_name);
    out->symbol = (struct symbol_lib){.kind = SYMBOL_LIB_ELF,
                                      .name = lib->debug_name,
                                      .path = lib->path[0] == '/' ? lib->path : NULL,
                                      .build_id = size ? out->build_id : NULL,
                                      .build_id_size = size};
    return 0;
}
