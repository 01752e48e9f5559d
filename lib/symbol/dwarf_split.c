#include "symbol/dwarf_split.h"

#include "os/file_io.h"
#include "elf/elf_contents.h"
#include "symbol/dwarf_package.h"

#include <dwarf.h>
#include <stdarg.h>
#include <unistd.h>

/* ---- files ---- */

/* Chromium's index takes 4 MB. prof reads the index once, because every unit needs thirty offsets from it. */
enum { INDEX_MAX = 256 << 20 };

static void load_index(struct dwarf_split_file *file)
{
    file->index = elf_file_load_contents(&file->elf, ".debug_cu_index", &file->owned_index, NULL);
    if (file->index.size == 0 || file->index.memory)
        return;
    file->owned_index = file->index.size <= INDEX_MAX ? bytes_load(&file->index) : NULL;
    file->index.memory = file->owned_index;
    if (!file->owned_index)
        file->index.size = 0;
}

static int read_sections(struct dwarf_split_file *file, struct error *err)
{
    int code = dwarf_sections_load(file->sections, file->owned, &file->elf, true, err);
    if (code == 0)
        load_index(file);
    if (code == 0 && file->sections[DWARF_INFO].size == 0)
        code = error_set(err, EINVAL, "it has no split debug info");
    if (code != 0)
        dwarf_split_file_close(file);
    return code;
}

/* Takes ownership of `fd`, also on failure. Error texts contain `name`. */
static int open_fd(struct dwarf_split_file *file, int fd, const char *name, struct error *err)
{
    *file = (struct dwarf_split_file){.owned_index = NULL};
    int code = elf_file_open_fd(&file->elf, fd, name, err);
    return code == 0 ? read_sections(file, err) : code;
}

int dwarf_split_file_open_image(struct dwarf_split_file *file, const void *image, size_t size, struct error *err)
{
    *file = (struct dwarf_split_file){.owned_index = NULL};
    int code = elf_file_open_image(&file->elf, image, size, "split debug info", err);
    return code == 0 ? read_sections(file, err) : code;
}

void dwarf_split_file_close(struct dwarf_split_file *file)
{
    for (int i = 0; i < DWARF_SECTIONS; i++)
        free(file->owned[i]);
    free(file->owned_index);
    elf_file_close(&file->elf);
}

/* ---- units ---- */

/* Before DWARF 5 an attribute of the root DIE holds the id. */
static bool contains_unit(const struct dwarf_file *dwarf, const struct dwarf_unit *unit, uint64_t id,
                          uint64_t *work_done)
{
    struct dwarf_unit_reader reader;
    ++*work_done;
    if (unit->verdict != DWARF_READ)
        return false;
    if (unit->version >= 5)
        return unit->dwo_id == id && unit->type == DW_UT_split_compile;
    int code = dwarf_unit_reader_init_root(&reader, dwarf, unit);
    bool same = code == 0 && reader.has_dwo_id && reader.dwo_id == id;
    *work_done += DWARF_UNIT_WORK_MAX - reader.work_left;
    dwarf_unit_reader_destroy(&reader);
    return same;
}

static const struct dwarf_unit *find_unit(const struct dwarf_file *dwarf, uint64_t id, uint64_t *work_done)
{
    for (size_t i = 0; i < dwarf->units.length && *work_done < DWARF_UNIT_WORK_MAX; i++)
        if (contains_unit(dwarf, &dwarf->units.data[i], id, work_done))
            return &dwarf->units.data[i];
    return NULL;
}

int dwarf_split_unit_open_in(struct dwarf_split_unit *split, const struct dwarf_split_file *file,
                             const struct dwarf_unit_reader *skeleton, struct error *err)
{
    struct bytes sections[DWARF_SECTIONS];
    memcpy(sections, file->sections, sizeof(sections));
    if (file->index.size && !dwarf_package_select(&file->index, skeleton->dwo_id, sections))
        return error_set(err, ENOENT, "the package has no such unit");
    int code = dwarf_file_open_split(&split->dwarf, sections, skeleton->file, err);
    if (code != 0)
        return code;
    enum { COST_OF_HEADER = 8 };
    split->work_done += COST_OF_HEADER * split->dwarf.units.length;
    const struct dwarf_unit *unit = find_unit(&split->dwarf, skeleton->dwo_id, &split->work_done);
    if (!unit) {
        dwarf_file_close(&split->dwarf);
        return error_set(err, ENOENT, "its id differs");
    }
    code = dwarf_unit_reader_init_split(&split->reader, &split->dwarf, unit, skeleton);
    if (code == 0)
        return 0;
    dwarf_unit_reader_destroy(&split->reader);
    dwarf_file_close(&split->dwarf);
    return error_set(err, -code, "its debug info is damaged");
}

void dwarf_split_unit_close(struct dwarf_split_unit *split)
{
    dwarf_unit_reader_destroy(&split->reader);
    dwarf_file_close(&split->dwarf);
    if (split->has_own)
        dwarf_split_file_close(&split->own);
}

/* ---- the search ---- */

struct split_search {
    const struct symbol_lib *lib;
    const struct debug_search *search;
    bool (*visit)(struct split_search *walk, int fd, const char *path); /* true for the searched file */
    struct dwarf_split_file *file;
    struct dwarf_split_unit *split; /* if NULL, searches a package */
    const struct dwarf_unit_reader *skeleton;
    struct error why; /* reason that an existing file does not match */
};

static bool open_candidate(struct split_search *walk, int root_fd, const char *path)
{
    int fd = file_open_in(root_fd, path);
    return fd >= 0 && walk->visit(walk, fd, path);
}

/* Opens a path in the root directory of the process, and in prof's own root directory. */
static bool open_formatted_path(struct split_search *walk, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static bool open_formatted_path(struct split_search *walk, const char *format, ...)
{
    char path[PATH_MAX];
    int root_fd = walk->lib->origin ? walk->lib->origin->root_fd : -1;
    va_list args;
    va_start(args, format);
    int length = vsnprintf(path, sizeof(path), format, args);
    va_end(args);
    if (length < 0 || length >= (int)sizeof(path))
        return false;
    return (root_fd >= 0 && open_candidate(walk, root_fd, path)) || open_candidate(walk, -1, path);
}

/* Searches a directory for `name`, with and without the directories in `name`. */
static bool search_directory(struct split_search *walk, const char *directory, size_t length, const char *name)
{
    const char *slash = strrchr(name, '/');
    return open_formatted_path(walk, "%.*s/%s", (int)length, directory, name) ||
           (slash && open_formatted_path(walk, "%.*s%s", (int)length, directory, slash));
}

static bool search_user_directories(struct split_search *walk, const char *name)
{
    bool found = false;
    for (size_t i = 0; walk->search && i < walk->search->directory_count && !found; i++)
        found = search_directory(walk, walk->search->directories[i], strlen(walk->search->directories[i]), name);
    return found;
}

static bool check_package(struct split_search *walk, int fd, const char *path)
{
    if (open_fd(walk->file, fd, path, NULL) != 0)
        return false;
    if (walk->file->index.size > 0)
        return true;
    dwarf_split_file_close(walk->file);
    return false;
}

/* Searches beside the real path of the open file, without symbolic links. Ignores a package with other ids. */
static bool search_beside(struct split_search *walk, const struct elf_file *skeletons)
{
    static const char suffix[] = ".debug";
    char link[64], path[PATH_MAX];
    int fd = skeletons->source ? file_source_open(skeletons->source) : -1;
    if (fd < 0)
        return false;
    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof(path));
    close(fd);
    if (length <= 0 || length >= PATH_MAX || path[0] != '/')
        return false;
    int size = (int)length, bare = size - (int)(sizeof(suffix) - 1);
    return open_formatted_path(walk, "%.*s.dwp", size, path) ||
           (bare > 0 && memcmp(path + bare, suffix, sizeof(suffix) - 1) == 0 &&
            open_formatted_path(walk, "%.*s.dwp", bare, path));
}

/* The file with the skeletons may itself contain the split units, if a package or a .dwo file was appended to the
 * program. */
static bool open_embedded(struct dwarf_split_file *package, const struct elf_file *skeletons)
{
    static const char name[] = "the file with the debug info";
    if (!elf_file_find_section(skeletons, ".debug_info.dwo"))
        return false;
    *package = (struct dwarf_split_file){.owned_index = NULL};
    int code = skeletons->source ? elf_file_open_source(&package->elf, skeletons->source, name, NULL)
                                 : elf_file_open_image(&package->elf, skeletons->bytes.memory,
                                                       (size_t)skeletons->bytes.size, name, NULL);
    return code == 0 && read_sections(package, NULL) == 0;
}

bool dwarf_split_find_package(struct dwarf_split_file *package, const struct symbol_lib *lib,
                              const struct elf_file *skeletons, const struct debug_search *search)
{
    struct split_search walk = {.lib = lib, .search = search, .visit = check_package, .file = package, .why = {""}};
    char name[PATH_MAX];
    const char *path = lib->path ? lib->path : lib->name;
    if (open_embedded(package, skeletons))
        return true;
    if (!path || snprintf(name, sizeof(name), "%s.dwp", path) >= (int)sizeof(name))
        return search_beside(&walk, skeletons);
    return search_user_directories(&walk, name) || (lib->path && open_formatted_path(&walk, "%s", name)) ||
           search_beside(&walk, skeletons);
}

static bool check_unit_file(struct split_search *walk, int fd, const char *path)
{
    struct error why = {""};
    int code = open_fd(walk->file, fd, path, &why);
    if (code == 0) {
        code = dwarf_split_unit_open_in(walk->split, walk->file, walk->skeleton, &why);
        if (code != 0)
            dwarf_split_file_close(walk->file);
    }
    if (code != 0)
        error_set(&walk->why, EINVAL, "%s does not belong to the program (%s)", path, why.text);
    return walk->split->has_own = code == 0;
}

static bool copy_text(struct dwarf_unit_reader *reader, struct dwarf_value value, char text[PATH_MAX])
{
    const char *found = dwarf_value_get_text(reader, value);
    text[0] = '\0';
    if (!found || !*found || strlen(found) >= PATH_MAX)
        return false;
    memcpy(text, found, strlen(found) + 1);
    return true;
}

static bool search_compilation_directory(struct split_search *walk, struct dwarf_unit_reader *skeleton,
                                         const char *name)
{
    char directory[PATH_MAX];
    if (name[0] == '/')
        return open_formatted_path(walk, "%s", name);
    return copy_text(skeleton, skeleton->directory, directory) && directory[0] == '/' &&
           open_formatted_path(walk, "%s/%s", directory, name);
}

int dwarf_split_unit_open(struct dwarf_split_unit *split, struct dwarf_unit_reader *skeleton,
                          const struct dwarf_split_file *package, const struct symbol_lib *lib,
                          const struct debug_search *search, struct error *err)
{
    char name[PATH_MAX];
    struct split_search walk = {.lib = lib,
                                .search = search,
                                .visit = check_unit_file,
                                .file = &split->own,
                                .split = split,
                                .skeleton = skeleton,
                                .why = {""}};
    const char *slash = lib->path ? strrchr(lib->path, '/') : NULL;
    split->has_own = false;
    split->work_done = 0;
    if (!skeleton->has_dwo_id)
        return error_set(err, ENOENT, "a unit has no ID of its .dwo file");
    if (package && dwarf_split_unit_open_in(split, package, skeleton, NULL) == 0)
        return 0;
    if (!copy_text(skeleton, skeleton->dwo_name, name))
        return error_set(err, ENOENT, "prof cannot read the name of a .dwo file");
    if (search_user_directories(&walk, name) || search_compilation_directory(&walk, skeleton, name) ||
        (slash && search_directory(&walk, lib->path, (size_t)(slash - lib->path), name)))
        return 0;
    if (walk.why.text[0])
        return error_set(err, ENOENT, "%s", walk.why.text);
    return error_set(err, ENOENT, "prof did not find %s", name);
}
