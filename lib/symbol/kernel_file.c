#include "symbol/kernel_file.h"

#include "os/file_io.h"
#include "elf/elf_note.h"
#include "elf/elf_relocate.h"

#include <elf.h>
#include <stdarg.h>
#include <sys/utsname.h>
#include <unistd.h>

struct kernel_search {
    const struct symbol_lib *lib;
    struct elf_file *file;
    bool found;
};

static bool check_candidate(void *context, int fd, const char *path)
{
    struct kernel_search *search = context;
    const struct symbol_lib *lib = search->lib;
    if (elf_file_open_fd(search->file, fd, path, NULL) != 0)
        return false;
    search->found = elf_file_has_id(search->file, lib->build_id, lib->build_id_size) &&
                    elf_file_find_section(search->file, ".debug_info");
    if (!search->found)
        elf_file_close(search->file);
    return search->found;
}

static void open_formatted_path(struct kernel_search *search, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void open_formatted_path(struct kernel_search *search, const char *format, ...)
{
    char path[PATH_MAX];
    va_list args;
    va_start(args, format);
    int length = vsnprintf(path, sizeof(path), format, args);
    va_end(args);
    int fd = !search->found && length > 0 && (size_t)length < sizeof(path) ? file_open_in(-1, path) : -1;
    if (fd >= 0)
        check_candidate(search, fd, path);
}

/* Opens the usual file names of kernel debug files, in the order of debug_search_visit_files(). */
static void search_directories(struct kernel_search *search, const struct debug_search *directories, const char *name,
                               const char *path, const char *other_name)
{
    struct symbol_lib file = {.name = name, .path = path};
    struct debug_file_query wanted = {
        .lib = &file, .id = search->lib->build_id, .id_size = search->lib->build_id_size, .link = other_name};
    debug_search_visit_files(directories, &wanted,
                             &(struct debug_file_visitor){.visit = check_candidate, .context = search});
}

static void find_vmlinux(struct kernel_search *search, const struct debug_search *directories, const char *release)
{
    const char *root = debug_search_get_root(directories);
    char name[sizeof(((struct utsname *)0)->release) + 16], path[sizeof(name) + 16];
    snprintf(name, sizeof(name), "vmlinux-%s", release);
    snprintf(path, sizeof(path), "/boot/%s", name);
    search_directories(search, directories, name, path, "vmlinux");
    open_formatted_path(search, "%s/boot/vmlinux-%s", root, release);
    open_formatted_path(search, "%s/boot/vmlinux-%s.debug", root, release);
    open_formatted_path(search, "%s/lib/modules/%s/vmlinux", root, release);
    open_formatted_path(search, "%s/lib/modules/%s/vmlinux.debug", root, release);
    open_formatted_path(search, "%s/usr/lib/modules/%s/vmlinux.debug", root, release);
    open_formatted_path(search, "/boot/vmlinux-%s", release);
    open_formatted_path(search, "/lib/modules/%s/vmlinux", release);
    open_formatted_path(search, "/lib/modules/%s/build/vmlinux", release);
}

/* If this line of modules.dep, "kernel/net/foo-bar.ko.xz: ...", is for the module foo_bar, returns its length through
 * ".ko"; otherwise 0. The kernel's names have '_' where file names may have '-'. */
static size_t match_module_line(const char *line, const char *name, size_t name_length)
{
    const char *end = strchr(line, ':');
    const char *start = line, *at = NULL;
    for (const char *c = line; end && c < end; c++)
        if (*c == '/')
            start = c + 1;
    if (!end || (size_t)(end - start) < name_length + 3)
        return 0;
    for (size_t i = 0; i < name_length; i++)
        if ((start[i] == '-' ? '_' : start[i]) != name[i])
            return 0;
    at = start + name_length;
    return strncmp(at, ".ko", 3) == 0 ? (size_t)(at + 3 - line) : 0;
}

/* Finds the start and the length of a module's name without brackets. */
static size_t find_plain_name(const char *name, const char **start)
{
    *start = name + (name[0] == '[');
    return strcspn(*start, "]/");
}

static void find_module(struct kernel_search *search, const struct debug_search *directories, const char *release)
{
    const char *root = debug_search_get_root(directories), *name;
    char line[4096], file_name[NAME_MAX + 4];
    size_t length = find_plain_name(search->lib->name, &name);
    if (length == 0 || length > NAME_MAX)
        return;
    snprintf(file_name, sizeof(file_name), "%.*s.ko", (int)length, name);
    search_directories(search, directories, file_name, NULL, NULL);
    snprintf(line, sizeof(line), "/lib/modules/%s/modules.dep", release);
    FILE *list = search->found ? NULL : fopen(line, "re");
    while (list && !search->found && fgets(line, sizeof(line), list)) {
        int used = (int)match_module_line(line, name, length);
        if (!used)
            continue;
        open_formatted_path(search, "%s/lib/modules/%s/%.*s.debug", root, release, used, line);
        open_formatted_path(search, "%s/lib/modules/%s/%.*s", root, release, used, line);
        open_formatted_path(search, "%s/usr/lib/modules/%s/%.*s.debug", root, release, used, line);
        open_formatted_path(search, "/lib/modules/%s/%.*s", release, used, line);
    }
    if (list)
        fclose(list);
}

bool kernel_file_open(struct elf_file *file, const struct symbol_lib *lib, const struct debug_search *search)
{
    struct kernel_search kernel = {.lib = lib, .file = file};
    struct utsname system;
    if (!lib->build_id || lib->build_id_size == 0 || uname(&system) != 0)
        return false;
    if (lib->kind == SYMBOL_LIB_KERNEL)
        find_vmlinux(&kernel, search, system.release);
    else
        find_module(&kernel, search, system.release);
    if (kernel.found && file->type == ET_REL)
        elf_assign_module_addresses(file);
    return kernel.found;
}

bool kernel_file_is_running(const struct symbol_lib *lib)
{
    char path[NAME_MAX + 64] = "/sys/kernel/notes";
    unsigned char notes[4096];
    const char *name;
    size_t length = find_plain_name(lib->name, &name), size = 0;
    if (!lib->build_id || lib->build_id_size == 0 || length > NAME_MAX)
        return true;
    if (lib->kind == SYMBOL_LIB_MODULE)
        snprintf(path, sizeof(path), "/sys/module/%.*s/notes/.note.gnu.build-id", (int)length, name);
    int fd = file_open_in(-1, path);
    ssize_t got = fd < 0 ? -1 : read(fd, notes, sizeof(notes));
    if (fd >= 0)
        close(fd);
    const unsigned char *id = elf_note_find(notes, got > 0 ? (size_t)got : 0, ELF_NOTE_GNU, NT_GNU_BUILD_ID, &size);
    return !id || (size == lib->build_id_size && memcmp(id, lib->build_id, size) == 0);
}
