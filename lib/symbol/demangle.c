/*
 * Bounded demangling with libiberty.
 *
 * By default libiberty refuses names of more than 1,024 characters, and real C++ names have 6,000. So libiberty's
 * recursion limit is off (DMGL_NO_RECURSE_LIMIT), and this file limits the length of the name, which bounds the
 * recursion, and the length of the output. A few hundred characters can demangle to gigabytes ("S_" doubles the text
 * before it). At the limit, longjmp() leaves libiberty's callback, because a callback cannot stop libiberty.
 * libiberty's memory is on the stack at that point, but the Rust demangler may leak a small buffer. demangle_bounds.c
 * rejects names that take long without output, and long D names, whose demangler has no callback.
 */
#include "symbol/demangle.h"
#include "base/ascii.h"
#include "symbol/demangle_bounds.h"

#include "base/utf8.h"

#include <libiberty/demangle.h>
#include <setjmp.h>

struct output {
    size_t length;
    jmp_buf too_long;
    char text[DEMANGLE_OUTPUT_MAX];
};

static void append_output(const char *text, size_t length, void *context)
{
    struct output *output = context;
    if (length > sizeof(output->text) - output->length)
        longjmp(output->too_long, 1);
    memcpy(output->text + output->length, text, length);
    output->length += length;
}

/* ---- parts of functions ---- */

/* Returns the length of the suffix (".cold", ".part.0", ".llvm.123", ...) at the start of `text`, or 0. */
static size_t find_suffix_length(const char *text)
{
    static const char *const suffixes[] = {".cold", ".part",     ".constprop",  ".isra",  ".llvm",
                                           ".warm", ".lto_priv", ".localalias", ".clone", ".__uniq"};
    for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
        size_t length = strlen(suffixes[i]);
        if (strncmp(text, suffixes[i], length) != 0)
            continue;
        while (text[length] == '.' && is_digit(text[length + 1]))
            length += 1 + strspn(text + length + 1, "0123456789");
        if (text[length] == '.' || text[length] == '\0')
            return length;
    }
    return 0;
}

/* Only a list of suffixes up to the end of the name counts, because a Rust name may contain "..clone..Clone". */
size_t measure_base_name(const char *name)
{
    size_t end = strlen(name);
    for (const char *dot = strchr(name + (*name != '\0'), '.'); dot; dot = strchr(dot + 1, '.')) {
        const char *at = dot;
        for (size_t length; (length = find_suffix_length(at)) > 0;)
            at += length;
        if (*at == '\0')
            return (size_t)(dot - name);
        if (at > dot)
            dot = at - 1;
    }
    return end;
}

/* ---- D ---- */

static bool is_mangled_d(const char *name)
{
    return name[0] == '_' && name[1] == 'D' &&
           (is_digit(name[2]) || name[2] == 'Q' || strncmp(name + 2, "__T", 3) == 0 || strcmp(name, "_Dmain") == 0);
}

static bool print_demangled_d(const char *name, size_t length, struct output *output)
{
    if (!demangle_d_is_bounded(name, length))
        return false;
    char *text = dlang_demangle(name, DMGL_PARAMS);
    size_t printed = text ? strlen(text) : SIZE_MAX;
    bool fits = printed <= sizeof(output->text);
    if (fits)
        append_output(text, printed, output);
    free(text);
    return fits;
}

/* ---- Fortran ---- */

/* Returns the length of the module's name in "__module_MOD_procedure", or 0. */
static size_t find_fortran_module_length(const char *name)
{
    if (name[0] != '_' || name[1] != '_' || name[2] < 'a' || name[2] > 'z')
        return 0;
    const char *separator = strstr(name + 2, "_MOD_");
    size_t length = separator ? (size_t)(separator - name - 2) : 0;
    return length && separator[5] && strspn(name + 2, "abcdefghijklmnopqrstuvwxyz0123456789_") >= length ? length : 0;
}

static bool print_demangled_fortran(const char *name, struct output *output)
{
    size_t module = find_fortran_module_length(name);
    if (module == 0)
        return false;
    append_output(name + 2, module, output);
    append_output("::", 2, output);
    append_output(name + 2 + module + 5, strlen(name + 2 + module + 5), output);
    return true;
}

/* ---- Rust, legacy ---- */

/* The default mangling of rustc (rustc_symbol_mangling, legacy.rs): a C++ name whose last part is a hash, 17h, 16
 * hexadecimal digits, E. Escapes replace characters that assemblers may reject: "..", "$LT$", and "$uf6$" for U+00F6.
 * libiberty knows 14 of these escapes, but not the escapes of letters. */
enum { RUST_HASH = 20 }; /* "17h0123456789abcdefE" */

static bool is_rust_legacy(const char *name, size_t length)
{
    const char *hash = name + length - RUST_HASH;
    return length > 3 + RUST_HASH && strncmp(name, "_ZN", 3) == 0 && strncmp(hash, "17h", 3) == 0 &&
           strspn(hash + 3, "0123456789abcdef") == 16 && hash[RUST_HASH - 1] == 'E';
}

/* Decodes an escape between two '$'. Returns the length of its text, or 0 if it is not an escape. */
static size_t decode_rust_escape(const char *escape, size_t length, char text[4])
{
    static const char *const escapes[][2] = {{"SP", "@"}, {"BP", "*"}, {"RF", "&"}, {"LT", "<"},
                                             {"GT", ">"}, {"LP", "("}, {"RP", ")"}, {"C", ","}};
    for (size_t i = 0; i < sizeof(escapes) / sizeof(*escapes); i++)
        if (strlen(escapes[i][0]) == length && strncmp(escape, escapes[i][0], length) == 0) {
            text[0] = escapes[i][1][0];
            return 1;
        }
    if (length < 2 || length > 7 || escape[0] != 'u' || strspn(escape + 1, "0123456789abcdef") != length - 1)
        return 0;
    unsigned long code = strtoul(escape + 1, NULL, 16);
    bool is_character = code >= 0x20 && code <= 0x10ffff && !(code >= 0x7f && code < 0xa0) && code >> 11 != 0x1b;
    return is_character ? utf8_put(text, (uint32_t)code) : 0;
}

static void print_rust_part(const char *part, size_t length, struct output *output)
{
    const char *end = part + length;
    if (length > 1 && part[0] == '_' && part[1] == '$')
        part++;
    while (part < end) {
        char text[4];
        size_t plain = strcspn(part, "$."), printed;
        if (plain > (size_t)(end - part))
            plain = (size_t)(end - part);
        append_output(part, plain, output);
        part += plain;
        if (part == end)
            return;
        const char *close = part[0] == '$' ? memchr(part + 1, '$', (size_t)(end - part - 1)) : NULL;
        if (part[0] == '.' && end - part > 1 && part[1] == '.') {
            append_output("::", 2, output);
            part += 2;
        } else if (close && (printed = decode_rust_escape(part + 1, (size_t)(close - part - 1), text)) > 0) {
            append_output(text, printed, output);
            part = close + 1;
        } else {
            append_output(part++, 1, output);
        }
    }
}

static bool print_rust_legacy(const char *name, size_t length, struct output *output)
{
    const char *at = name + 3, *end = name + length - RUST_HASH;
    while (at < end) {
        char *part;
        unsigned long size = is_digit(*at) ? strtoul(at, &part, 10) : 0;
        if (!size || part > end || size > (size_t)(end - part))
            return false;
        if (at > name + 3)
            append_output("::", 2, output);
        print_rust_part(part, size, output);
        at = part + size;
    }
    return true;
}

/* ---- all languages ---- */

bool is_mangled(const char *name)
{
    return (name[0] == '_' && (name[1] == 'Z' || name[1] == 'R')) || is_mangled_d(name) ||
           find_fortran_module_length(name);
}

/* Prints the demangled name, without suffixes. */
static bool print_demangled(const char *name, size_t length, struct output *output)
{
    if (is_rust_legacy(name, length) && print_rust_legacy(name, length, output))
        return true;
    output->length = 0;
    if (strncmp(name, "_R", 2) == 0)
        return rust_demangle_callback(name, DMGL_PARAMS | DMGL_ANSI, append_output, output);
    if (strncmp(name, "_Z", 2) == 0)
        return demangle_cpp_is_bounded(name, length) &&
               cplus_demangle_v3_callback(name, DMGL_PARAMS | DMGL_ANSI | DMGL_NO_RECURSE_LIMIT, append_output, output);
    return is_mangled_d(name) ? print_demangled_d(name, length, output) : print_demangled_fortran(name, output);
}

/* Prints suffixes as libiberty does for C++. */
static void print_suffixes(const char *suffixes, struct output *output)
{
    for (size_t length; (length = find_suffix_length(suffixes)) > 0; suffixes += length) {
        append_output(" [clone ", 8, output);
        append_output(suffixes, length, output);
        append_output("]", 1, output);
    }
}

static bool print_whole_name(const char *name, size_t base, bool with_suffixes, struct output *output)
{
    char copy[DEMANGLE_INPUT_MAX + 1];
    memcpy(copy, name, base);
    copy[base] = '\0';
    if (setjmp(output->too_long) != 0 || !print_demangled(copy, base, output))
        return false;
    if (with_suffixes)
        print_suffixes(name + base, output);
    return true;
}

static const char *demangle_parts(const char *name, bool with_suffixes, struct arena *arena)
{
    size_t base = measure_base_name(name);
    if (is_mangled(name) && base <= DEMANGLE_INPUT_MAX) {
        struct output output;
        output.length = 0;
        if (print_whole_name(name, base, with_suffixes, &output))
            return arena_copy(arena, output.text, output.length);
    }
    return arena_copy(arena, name, with_suffixes ? strlen(name) : base);
}

const char *demangle(const char *name, struct arena *arena)
{
    return demangle_parts(name, true, arena);
}

const char *demangle_function(const char *name, struct arena *arena)
{
    return demangle_parts(name, false, arena);
}

/* ---- Ada ---- */

/* Returns the operator of an Ada name that begins with "O", and sets `length` to the length of the name. GNAT:
 * exp_dbug.ads. */
static const char *find_ada_operator(const char *name, size_t *length)
{
    static const char *const operators[][2] = {
        {"Oabs", "abs"},  {"Oand", "and"},    {"Omod", "mod"},  {"Onot", "not"},  {"Oor", "or"},
        {"Orem", "rem"},  {"Oxor", "xor"},    {"Oeq", "="},     {"One", "/="},    {"Olt", "<"},
        {"Ole", "<="},    {"Ogt", ">"},       {"Oge", ">="},    {"Oadd", "+"},    {"Osubtract", "-"},
        {"Oconcat", "&"}, {"Omultiply", "*"}, {"Odivide", "/"}, {"Oexpon", "**"},
    };
    for (size_t i = 0; i < sizeof(operators) / sizeof(operators[0]); i++) {
        *length = strlen(operators[i][0]);
        if (strncmp(name, operators[i][0], *length) == 0 && (name[*length] == '\0' || name[*length] == '_'))
            return operators[i][1];
    }
    return NULL;
}

/* Whether the suffix numbers an overloaded subprogram ("__2") or a nested one (".0"). */
static bool is_ada_number(const char *rest)
{
    size_t length = rest[0] == '.' ? 1 : strncmp(rest, "__", 2) == 0 ? 2 : 0;
    size_t digits = length ? strspn(rest + length, "0123456789") : 0;
    return digits && rest[length + digits] == '\0';
}

const char *demangle_ada(const char *name, struct arena *arena)
{
    size_t used = 0, length = strlen(name);
    char *text = length <= DEMANGLE_INPUT_MAX ? arena_alloc(arena, length + 3) : NULL; /* plus two quotes and a NUL */
    if (!text)
        return arena_copy(arena, name, length);
    if (strncmp(name, "_ada_", 5) == 0)
        name += 5;
    while (*name && !is_ada_number(name)) {
        bool is_start = used == 0 || text[used - 1] == '.';
        const char *operator= is_start ? find_ada_operator(name, &length) : NULL;
        if (operator) {
            text[used++] = '"';
            memcpy(text + used, operator, strlen(operator));
            used += strlen(operator);
            text[used++] = '"';
            name += length;
        } else if (used && name[0] == '_' && name[1] == '_' && name[2]) {
            text[used++] = '.';
            name += 2;
        } else {
            text[used++] = *name++;
        }
    }
    text[used] = '\0';
    return text;
}

/* ---- Nim ---- */

/* Appends an operator that is written in words ("eqeq" for "=="), in backquotes as in source. Returns false if some
 * words are not names of operators. Nim: compiler/ccgutils.nim, mangle(). */
static bool append_nim_operator(const char *words, size_t length, char *out, size_t *used)
{
    static const char *const operators[][2] = {{"dollar", "$"}, {"percent", "%"},    {"amp", "&"},   {"roof", "^"},
                                               {"emark", "!"},  {"qmark", "?"},      {"star", "*"},  {"plus", "+"},
                                               {"minus", "-"},  {"backslash", "\\"}, {"slash", "/"}, {"eq", "="},
                                               {"lt", "<"},     {"gt", ">"},         {"tilde", "~"}, {"colon", ":"},
                                               {"dot", "."},    {"at", "@"},         {"bar", "|"},   {"X5BX5D", "[]"}};
    size_t start = *used, i = 0;
    out[(*used)++] = '`';
    while (length > 0) {
        for (i = 0; i < sizeof(operators) / sizeof(*operators); i++)
            if (strncmp(words, operators[i][0], strlen(operators[i][0])) == 0)
                break;
        size_t word = i < sizeof(operators) / sizeof(*operators) ? strlen(operators[i][0]) : SIZE_MAX;
        if (word > length) {
            *used = start;
            return false;
        }
        memcpy(out + *used, operators[i][1], strlen(operators[i][1]));
        *used += strlen(operators[i][1]);
        words += word;
        length -= word;
    }
    out[(*used)++] = '`';
    return true;
}

/* "hotLoop__work_12", since Nim 2 "hotLoop__work_u12", in a module std/strutils "stdZstrutils" */
bool demangle_nim(const char *name, char out[DEMANGLE_NIM_MAX])
{
    size_t length = strlen(name), digits = length;
    while (digits > 0 && is_digit(name[digits - 1]))
        digits--;
    size_t number = digits > 0 && name[digits - 1] == 'u' ? digits - 1 : digits;
    const char *separator = NULL;
    for (const char *at = strstr(name, "__"); at; at = strstr(at + 1, "__"))
        separator = at;
    if (!separator || separator == name || digits == length || number < 2 || name[number - 1] != '_' ||
        3 * length >= DEMANGLE_NIM_MAX)
        return false;
    const char *module = separator + 2;
    size_t module_length = (size_t)(name + number - 1 - module), used = 0;
    if (module >= name + number - 1 || memchr(module, '_', module_length))
        return false;
    for (size_t i = 0; i < module_length; i++)
        out[used++] = module[i] == 'Z' ? '/' : module[i];
    out[used++] = '.';
    /* The name of an operator ends with '_', so three underscores follow. */
    size_t words = separator > name + 1 && separator[-1] == '_' ? (size_t)(separator - name - 1) : 0;
    if (!words || !append_nim_operator(name, words, out, &used)) {
        memcpy(out + used, name, (size_t)(separator - name));
        used += (size_t)(separator - name);
    }
    out[used] = '\0';
    return true;
}
