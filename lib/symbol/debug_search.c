#include "symbol/debug_search.h"

#include "os/file_io.h"
#include "symbol/debug_server.h"
#include "symbol/library_id.h"

#include <stdarg.h>

struct walk {
    const struct debug_search *search;
    const struct debug_file_query *query;
    const struct debug_file_visitor *visitor;
    char id[CODE_ID_SIZE]; /* hex; empty: unknown */
    const char *name;      /* file name of the library */
    bool ended;
};

/* Opens one path in a root directory (-1 for prof's own root) and calls the visitor. */
static void visit_path(struct walk *walk, int root_fd, const char *format, ...) __attribute__((format(printf, 3, 4)));

static void visit_path(struct walk *walk, int root_fd, const char *format, ...)
{
    char path[PATH_MAX];
    va_list args;
    va_start(args, format);
    int length = vsnprintf(path, sizeof(path), format, args);
    va_end(args);
    if (walk->ended || length < 0 || (size_t)length >= sizeof(path))
        return;
    int fd = file_open_in(root_fd, path);
    if (fd >= 0)
        walk->ended = walk->visitor->visit(walk->visitor->context, fd, path);
}

static void visit_build_id_path(struct walk *walk, int root_fd, const char *directory, const char *suffix)
{
    if (walk->id[0])
        visit_path(walk, root_fd, "%s/.build-id/%.2s/%s%s", directory, walk->id, walk->id + 2, suffix);
}

/* Searches perf's build-id cache, which has links from build ids to directories with the file, its debug file or the
 * vDSO. */
static void visit_perf_cache(struct walk *walk, const char *directory)
{
    visit_build_id_path(walk, -1, directory, "/debug");
    visit_build_id_path(walk, -1, directory, "/elf");
    visit_build_id_path(walk, -1, directory, "/vdso");
}

static void visit_user_directory(struct walk *walk, const char *directory)
{
    const char *path = walk->query->lib->path;
    visit_build_id_path(walk, -1, directory, ".debug");
    visit_build_id_path(walk, -1, directory, "");
    visit_perf_cache(walk, directory);
    if (walk->id[0])
        visit_path(walk, -1, "%s" DEBUG_ROOT "/.build-id/%.2s/%s.debug", directory, walk->id, walk->id + 2);
    if (!walk->name)
        return;
    visit_path(walk, -1, "%s/%s.debug", directory, walk->name);
    visit_path(walk, -1, "%s/%s", directory, walk->name);
    if (path && path[0] == '/') {
        visit_path(walk, -1, "%s%s.debug", directory, path);
        visit_path(walk, -1, "%s%s", directory, path);
    }
    if (walk->query->link)
        visit_path(walk, -1, "%s/%s", directory, walk->query->link);
}

/* Tries the .gnu_debuglink name beside the library, in .debug there, and below the directory of debug files. */
static void visit_debug_link(struct walk *walk, int root_fd)
{
    const char *path = walk->query->lib->path, *link = walk->query->link;
    const char *slash = path ? strrchr(path, '/') : NULL;
    int directory = slash ? (int)(slash - path) : 0;
    if (!link || !slash)
        return;
    if (strcmp(slash + 1, link) != 0)
        visit_path(walk, root_fd, "%.*s/%s", directory, path, link);
    visit_path(walk, root_fd, "%.*s/.debug/%s", directory, path, link);
    visit_path(walk, root_fd, "%s%.*s/%s", debug_search_get_root(walk->search), directory, path, link);
}

void debug_search_visit_files(const struct debug_search *search, const struct debug_file_query *query,
                              const struct debug_file_visitor *visitor)
{
    struct walk walk = {.search = search, .query = query, .visitor = visitor, .id = ""};
    const char *slash = query->lib->name ? strrchr(query->lib->name, '/') : NULL;
    walk.name = slash ? slash + 1 : query->lib->name;
    if (query->id_size >= 2 && query->id_size <= ELF_BUILD_ID_MAX)
        write_code_id(query->id, query->id_size, walk.id);
    int root_fd = query->lib->origin ? query->lib->origin->root_fd : -1;
    for (size_t i = 0; search && i < search->directory_count; i++)
        visit_user_directory(&walk, search->directories[i]);
    if (root_fd >= 0)
        visit_build_id_path(&walk, root_fd, DEBUG_ROOT, ".debug");
    visit_build_id_path(&walk, -1, debug_search_get_root(search), ".debug");
    visit_debug_link(&walk, root_fd);
    if (search && search->perf_cache) {
        visit_perf_cache(&walk, search->perf_cache);
        /* before perf 4.14, the build id links to the file itself */
        visit_build_id_path(&walk, -1, search->perf_cache, "");
    }
}

int debug_search_fetch_source(const struct debug_search *search, const struct symbol_lib *lib, const char *path,
                              struct error *err)
{
    if (!search || !search->server || !lib->build_id)
        return error_set(err, ENOENT, "prof did not find %s, and no debug server is configured", path);
    return debug_server_fetch(search->server, DEBUG_SERVER_SOURCE, lib->build_id, lib->build_id_size, path, err);
}
