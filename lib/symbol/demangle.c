/*
 * Demangling with libiberty, kept in bounds.
 *
 * libiberty refuses names of more than 1,024 characters unless told not to mind its recursion, and C++ has real names
 * of 6,000. So it is told, and bounded here: by the length of the name, which bounds the recursion, and by the length
 * of what it prints. A few hundred characters can demangle to gigabytes ("S_" doubles what came before); the printing
 * is left with longjmp() then, the only way out of libiberty's callbacks, whose memory is on the stack at that point
 * (the Rust one may lose one small buffer).
 */
#include "symbol/demangle.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdbool.h>
#include <string.h>

struct output {
    size_t length;
    jmp_buf too_long;
    char text[DEMANGLE_OUTPUT_MAX];
};

static void append(const char *text, size_t length, void *context)
{
    struct output *output = context;
    if (length > sizeof(output->text) - output->length)
        longjmp(output->too_long, 1);
    memcpy(output->text + output->length, text, length);
    output->length += length;
}

static bool is_rust(const char *name)
{
    /* v0 begins with _R; legacy names are C++ ones that end with a hash: 17h, 16 hexadecimal digits, E. */
    size_t length = demangle_base_length(name);
    if (name[0] == '_' && name[1] == 'R')
        return true;
    return length > 23 && strncmp(name, "_ZN", 3) == 0 && strncmp(name + length - 20, "17h", 3) == 0 &&
           name[length - 1] == 'E';
}

static bool print_demangled(const char *name, struct output *output)
{
    if (setjmp(output->too_long) != 0)
        return false;
    if (is_rust(name) && rust_demangle_callback(name, DMGL_PARAMS | DMGL_ANSI, append, output))
        return true;
    output->length = 0;
    return strncmp(name, "_Z", 2) == 0 &&
           cplus_demangle_v3_callback(name, DMGL_PARAMS | DMGL_ANSI | DMGL_NO_RECURSE_LIMIT, append, output);
}

const char *demangle(const char *name, struct arena *arena)
{
    size_t length = strlen(name);
    if (is_mangled(name) && length <= DEMANGLE_INPUT_MAX) {
        struct output output;
        output.length = 0;
        if (print_demangled(name, &output))
            return arena_copy(arena, output.text, output.length);
    }
    return arena_copy(arena, name, length);
}

size_t demangle_base_length(const char *name)
{
    static const char *const suffixes[] = {".cold", ".part",     ".constprop",  ".isra",
                                           ".llvm", ".lto_priv", ".localalias", ".clone"};
    for (const char *dot = strchr(name + (*name != '\0'), '.'); dot; dot = strchr(dot + 1, '.'))
        for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
            size_t length = strlen(suffixes[i]);
            if (strncmp(dot, suffixes[i], length) == 0 && (dot[length] == '.' || dot[length] == '\0'))
                return (size_t)(dot - name);
        }
    return strlen(name);
}
