#include "symbol/named_library.h"

#include "symbol/library_id.h"

#include <errno.h>
#include <string.h>

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
static bool file_fits(const struct named_library *library, unsigned char *build_id, size_t *size)
{
    struct elf_file file;
    unsigned char text_id[16];
    char breakpad_id[BREAKPAD_ID_SIZE] = "";
    if (library->path[0] != '/' || elf_file_open(&file, library->path, NULL) != 0)
        return false;
    *size = file.build_id_size;
    memcpy(build_id, file.build_id, file.build_id_size);
    if (file.build_id_size)
        library_breakpad_id(file.build_id, file.build_id_size, breakpad_id);
    else if (library_text_id(&file, text_id))
        library_breakpad_id(text_id, sizeof(text_id), breakpad_id);
    elf_file_close(&file);
    return breakpad_id[0] && strcmp(breakpad_id, library->breakpad_id) == 0;
}

int named_library_identify(const struct named_library *library, struct identified_library *out, struct error *err)
{
    size_t size = parse_code_id(library->code_id, out->build_id, sizeof(out->build_id));
    if (size == 0 && !file_fits(library, out->build_id, &size))
        return error_set(err, ENOENT, "no file has the id that the profile gives for %s", library->debug_name);
    out->symbol = (struct symbol_lib){.kind = SYMBOL_LIB_ELF,
                                      .name = library->debug_name,
                                      .path = library->path[0] == '/' ? library->path : NULL,
                                      .build_id = size ? out->build_id : NULL,
                                      .build_id_size = size};
    return 0;
}
