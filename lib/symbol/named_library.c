#include "symbol/named_library.h"

#include "base/ascii.h"
#include "process/proc_maps.h"
#include "symbol/library_id.h"

/* Parses hex digits. Returns the number of bytes of the build id, or 0 if the text is not a build id. */
static size_t parse_code_id(const char *text, unsigned char *out, size_t max)
{
    size_t size = 0;
    for (; text[0] && text[1]; text += 2) {
        int high = parse_hex_digit(text[0]), low = parse_hex_digit(text[1]);
        if (high < 0 || low < 0 || size == max)
            return 0;
        out[size++] = (unsigned char)(high << 4 | low);
    }
    return *text ? 0 : size;
}

/* Whether the file at the path has the profile's breakpad id. A profile without ids (gperftools) matches any file at
 * the path, and its importer warns the user. Sets the build id of the file, with size 0 if the breakpad id comes from
 * the code. */
static bool has_breakpad_id(const struct named_library *library, unsigned char *build_id, size_t *size)
{
    struct elf_file file;
    unsigned char text_id[16];
    char breakpad_id[BREAKPAD_ID_SIZE] = "";
    if (library->path[0] != '/' || elf_file_open(&file, library->path, NULL) != 0)
        return false;
    *size = file.build_id_size;
    memcpy(build_id, file.build_id, file.build_id_size);
    if (file.build_id_size)
        write_breakpad_id(file.build_id, file.build_id_size, breakpad_id);
    else if (compute_text_id(&file, text_id))
        write_breakpad_id(text_id, sizeof(text_id), breakpad_id);
    elf_file_close(&file);
    return !library->breakpad_id[0] || (breakpad_id[0] && strcmp(breakpad_id, library->breakpad_id) == 0);
}

/* Names in brackets are not files: "[kernel.kallsyms]", "[nf_tables]", "[vdso]". */
static enum symbol_lib_kind find_library_kind(const char *path)
{
    size_t length = strlen(path);
    if (length < 2 || path[0] != '[' || path[length - 1] != ']')
        return SYMBOL_LIB_ELF;
    if (strcmp(path, "[vdso]") == 0)
        return SYMBOL_LIB_VDSO;
    return strcmp(path, "[kernel.kallsyms]") == 0 ? SYMBOL_LIB_KERNEL : SYMBOL_LIB_MODULE;
}

static bool is_own_vdso(struct symbol_lib *lib)
{
    struct elf_file file;
    lib->image = proc_maps_find_own_vdso(&lib->image_size);
    if (!lib->image || elf_file_open_image(&file, lib->image, lib->image_size, lib->name, NULL) != 0)
        return false;
    bool is_own = elf_file_has_id(&file, lib->build_id, lib->build_id_size);
    elf_file_close(&file);
    return is_own;
}

/* Identifies the kernel or a module. Debug files may exist for a kernel that is not running. */
static int identify_in_memory(struct symbol_lib *lib, struct error *err)
{
    if (!lib->build_id)
        return error_set(err, ENOENT, "the profile does not contain the build ID of %s", lib->name);
    if (lib->kind == SYMBOL_LIB_VDSO && !is_own_vdso(lib))
        lib->kind = SYMBOL_LIB_ELF;
    return 0;
}

int named_library_identify(const struct named_library *library, struct identified_library *out, struct error *err)
{
    size_t size = parse_code_id(library->code_id, out->build_id, sizeof(out->build_id));
    enum symbol_lib_kind kind = find_library_kind(library->path);
    if (size == 0 && kind == SYMBOL_LIB_ELF && !has_breakpad_id(library, out->build_id, &size))
        return library->debug_name[0]
                   ? error_set(err, ENOENT, "no file has the ID of %s in the profile", library->debug_name)
                   : error_set(err, ENOENT, "the profile does not contain its path");
    out->symbol = (struct symbol_lib){.kind = kind,
                                      .name = library->debug_name,
                                      .path = library->path[0] == '/' ? library->path : NULL,
                                      .build_id = size ? out->build_id : NULL,
                                      .build_id_size = size};
    return kind == SYMBOL_LIB_ELF ? 0 : identify_in_memory(&out->symbol, err);
}
