#include "tree/frame_kinds.h"

#include "base/starts_with.h"
#include "tree/stack_view.h"

enum resource_type { RESOURCE_UNKNOWN, RESOURCE_LIBRARY };

/* Recorders write names of the kernel, its modules, and memory without a file in brackets. */
static bool is_kernel(const char *name)
{
    static const char *const others[] = {"[vdso", "[vsyscall", "[heap",    "[stack",
                                         "[anon", "[uprobes",  "[unknown", NULL};
    const char *module = strstr(name, ".ko");
    return (name[0] == '[' && !starts_with_any(name, others)) || starts_with(name, "vmlinux") ||
           (module && strchr(".)", module[3]));
}

/* A library with a build id is an ELF file. */
static bool has_build_id(const struct profile *profile, const char *name)
{
    for (size_t i = 0; i < profile->libs.length; i++) {
        const struct library *lib = &profile->libs.data[i];
        if (lib->name != PROFILE_NONE && strcmp(strings_text(&profile->strings, lib->name), name) == 0)
            return lib->code_id != PROFILE_NONE && strings_text(&profile->strings, lib->code_id)[0];
    }
    return false;
}

/* JIT compilers and loaders of ELF files keep code in files of memfd_create(). */
static bool is_jit(const struct profile *profile, const char *name)
{
    if (starts_with(name, "memfd:") && has_build_id(profile, name))
        return false;
    static const char *const starts[] = {"[anon", "//anon", "[heap", "jitted-", "jit-", "perf-", "memfd:", NULL};
    return strcmp(name, "JIT") == 0 ||
           (starts_with_any(name, starts) && (!starts_with(name, "perf-") || strstr(name, ".map")));
}

/* Detects kernel functions by name in files converted from text, such as the output of `perf script`: "read (in
 * [kernel.kallsyms])", "read_[k]", or a bare address in the upper half of the address space. */
static bool is_kernel_by_name(const char *name)
{
    enum { DIGITS = 16 };
    size_t length = strlen(name);
    const char *in = strstr(name, " (in ");
    const char *mark = length > 4 ? name + length - 4 : "";
    return strcmp(mark, "_[k]") == 0 || (in && is_kernel(in + strlen(" (in "))) ||
           (starts_with(name, "0xffff") && strspn(name + 2, "0123456789abcdefABCDEF") == DIGITS);
}

enum frame_kind get_frame_kind(const struct profile *profile, uint32_t func)
{
    const struct func_table *funcs = &profile->funcs;
    uint32_t resource = get_func_resource(profile, func);
    if (func < funcs->length && funcs->flags[func] & FUNC_IS_JS)
        return FRAME_JS;
    if (resource < profile->resources.length) {
        const struct resource *row = &profile->resources.data[resource];
        const char *name = strings_text(&profile->strings, row->name);
        if (row->type > RESOURCE_LIBRARY)
            return FRAME_OTHER;
        return is_kernel(name) ? FRAME_KERNEL : is_jit(profile, name) ? FRAME_JIT : FRAME_NATIVE;
    }
    const char *name = func < funcs->length ? strings_text(&profile->strings, funcs->name[func]) : "";
    if (name[0] == '(' || name[0] == '\0')
        return FRAME_OTHER;
    return is_kernel_by_name(name) ? FRAME_KERNEL : FRAME_JIT;
}

unsigned get_frame_kinds(const struct profile *profile)
{
    unsigned kinds = 0;
    for (uint32_t func = 0; func < profile->funcs.length; func++)
        kinds |= get_frame_kind(profile, func);
    return kinds;
}
