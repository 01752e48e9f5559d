#include "tree/func_groups.h"

#include "base/starts_with.h"
#include "base/utf8.h"
#include "tree/func_name.h"
#include "tree/search_filter.h"
#include "tree/stack_view.h"

struct part {
    const char *text;
    size_t length;
};

/* "std" of "<std::vec::Vec as Drop>::drop". A name without a path has none. */
static struct part find_path_root(struct part name)
{
    static const char *const before[] = {"<", "&", "*", "mut ", "dyn ", "const ", "[", "(anonymous namespace)::", NULL};
    size_t skipped, end = 0;
    do {
        skipped = 0;
        for (size_t i = 0; before[i] && !skipped; i++) {
            size_t length = strlen(before[i]);
            skipped = name.length >= length && memcmp(name.text, before[i], length) == 0 ? length : 0;
        }
        name = (struct part){name.text + skipped, name.length - skipped};
    } while (skipped);
    while (end < name.length && !strchr(":<>(), ", name.text[end]))
        end++;
    bool is_path = end > 0 && end + 1 < name.length && name.text[end] == ':' && name.text[end + 1] == ':';
    return (struct part){name.text, is_path ? end : 0};
}

/* Returns the group of functions of a library without a better group, such as "[libc.so.6]", or STRING_NONE if memory
 * ran out. */
static uint32_t add_library(struct func_groups *groups, const char *library)
{
    char text[256];
    if (!library[0] || library[0] == '[')
        return strings_add_z(&groups->names, library[0] ? library : "(no library)");
    snprintf(text, sizeof(text), "[%.*s]", utf8_cut(library, 250), library);
    return strings_add_z(&groups->names, text);
}

/* Compilers append these words to names of functions in C. */
static bool is_clone_suffix(const char *text)
{
    static const char *const suffixes[] = {"cold", "part.", "isra.", "constprop.", "lto_priv.", "llvm.", NULL};
    return starts_with_any(text, suffixes);
}

static bool is_class(const struct part name, size_t at)
{
    while (at < name.length && name.text[at] == '_')
        at++;
    return at < name.length && name.text[at] >= 'A' && name.text[at] <= 'Z';
}

/* "net/http" of Go's "net/http.(*conn).serve", "java.util" of Java's "java.util.HashMap.get". A package of Java ends
 * before the class of the method, one of Go at the first dot after its path. */
static struct part find_package(struct part name)
{
    size_t path = name.length, first = 0, class = 0;
    while (path > 0 && name.text[path - 1] != '/')
        path--;
    for (size_t at = path + 1; at < name.length && !strchr("( <", name.text[at]); at++) {
        if (name.text[at] != '.')
            continue;
        if (!first && is_clone_suffix(name.text + at + 1))
            break;
        if (class)
            return (struct part){name.text, class};
        first = first ? first : at;
        class = path == 0 && is_class(name, at + 1) ? at : 0;
    }
    return (struct part){name.text, is_class(name, path) ? 0 : first};
}

static bool add_namespace(struct func_groups *groups, const char *name, const char *library, uint32_t *group)
{
    size_t length = strlen(name);
    char *bare = malloc(length + 1);
    if (!bare)
        return false;
    struct part whole = {bare, strip_func_name(name, length, bare)};
    bare[whole.length] = '\0';
    struct part found = find_path_root(whole);
    if (!found.length)
        found = find_package(whole);
    *group = found.length ? strings_add(&groups->names, found.text, found.length) : add_library(groups, library);
    free(bare);
    return true;
}

static uint32_t add_directory(struct func_groups *groups, const char *file, const char *library)
{
    const char *slash = strrchr(file, '/');
    return slash && slash > file ? strings_add(&groups->names, file, (size_t)(slash - file))
                                 : add_library(groups, library);
}

static int group_by_terms(struct func_groups *groups, const struct profile *profile, const char *terms,
                          struct error *err)
{
    struct search search;
    int code = search_init(&search, profile, terms, strlen(terms), err);
    for (size_t t = 0; !code && t < search.terms.count; t++) {
        const struct span term = search.terms.items[t].whole;
        if (strings_append(&groups->names, term.at, (size_t)(term.end - term.at)) == STRING_NONE)
            code = error_no_memory(err);
    }
    if (!code && strings_append(&groups->names, "(other)", strlen("(other)")) == STRING_NONE)
        code = error_no_memory(err);
    for (size_t func = 0; !code && func < profile->funcs.length; func++) {
        size_t term = 0;
        uint16_t matches = search.func_mask[func] & (uint16_t)~search.excluded;
        while (term < search.terms.count && !(matches >> term & 1))
            term++;
        groups->of_func.data[func] = (uint32_t)term;
    }
    search_destroy(&search);
    return code;
}

int func_groups_find(struct func_groups *groups, const struct profile *profile, enum func_grouping by,
                     const char *terms, struct error *err)
{
    func_groups_destroy(groups);
    if (!array_reserve(&groups->of_func, profile->funcs.length))
        return error_no_memory(err);
    groups->of_func.length = profile->funcs.length;
    if (by == FUNCS_BY_TERM)
        return group_by_terms(groups, profile, terms, err);
    for (uint32_t func = 0; func < profile->funcs.length; func++) {
        const struct func_names names = get_func_names(profile, func);
        const char *library = profile_text(profile, names.lib);
        uint32_t *group = &groups->of_func.data[func];
        if (by == FUNCS_BY_DIRECTORY)
            *group = add_directory(groups, profile_text(profile, names.file), library);
        else if (!add_namespace(groups, profile_text(profile, names.name), library, group))
            return error_no_memory(err);
        if (*group == STRING_NONE)
            return error_no_memory(err);
    }
    return 0;
}

int func_groups_sum(struct func_timings *rows, const struct func_groups *groups, const struct call_nodes *nodes,
                    const struct timings *timings, struct error *err)
{
    uint32_t other = (uint32_t)groups->names.entries.length; /* funcs that a transform has made of a library */
    uint32_t *group_of_node = malloc((nodes->length + 1) * sizeof(*group_of_node));
    *rows = (struct func_timings){0};
    if (!group_of_node)
        return error_no_memory(err);
    for (size_t node = 0; node < nodes->length; node++)
        group_of_node[node] =
            nodes->func[node] < groups->of_func.length ? groups->of_func.data[nodes->func[node]] : other;
    int code = sum_node_groups(rows, nodes, timings, group_of_node, other + 1, FUNCS_BY_TOTAL, err);
    free(group_of_node);
    return code;
}

void func_groups_destroy(struct func_groups *groups)
{
    array_free(&groups->of_func);
    strings_destroy(&groups->names);
    *groups = (struct func_groups){0};
}
