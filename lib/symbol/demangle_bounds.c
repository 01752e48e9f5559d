/*
 * Three constructs make libiberty run without a bound:
 *
 * D: a back reference to a type prints the type again, including the back references inside the type.
 *
 * C++ parsing: in the type of a conversion operator, libiberty parses a template parameter with arguments
 * ("cvT_I...E"), backtracks, and parses it again; the same happens inside its arguments.
 *
 * C++ printing: a pack expansion ("Dp") first searches its whole pattern for a pack. A pattern only looks like a tree:
 * substitutions ("S0_") refer to the same part many times, and 30 lines of substitutions make 2^30 nodes to search.
 * libiberty prints all other parts that it visits repeatedly, so the output limit bounds them.
 */
#include "symbol/demangle_bounds.h"

#include "base/ascii.h"

#include <libiberty/demangle.h>

/* ---- D ---- */

/* Limit of bound_d_output() for a whole name. 19 of the 16,975 names of gcc's D library exceed it. */
#define D_EXPANSION_MAX (UINT64_C(16) << 20)

/* Returns the largest number of characters that libiberty prints for one character of a name. */
static uint64_t count_d_output(char c)
{
    if (is_digit(c))
        return 1;
    bool is_calling_convention = c >= 'R' && c <= 'Y';
    return is_calling_convention ? strlen("extern(Objective-C) ") : strlen("immutable()");
}

/* Returns the target of the back reference at `at`, or `at` if the target is invalid. Format: "Q" and a distance in
 * base 26, whose last digit is lower-case. */
static size_t find_d_reference_target(const char *name, size_t at)
{
    uint64_t distance = 0;
    for (size_t i = at + 1; name[i] >= 'A' && name[i] <= 'z' && distance <= at; i++) {
        if (name[i] >= 'a')
            return (distance = distance * 26 + (uint64_t)(name[i] - 'a')) <= at ? at - (size_t)distance : at;
        if (name[i] > 'Z')
            return at;
        distance = distance * 26 + (uint64_t)(name[i] - 'A');
    }
    return at;
}

/* Computes an upper bound of the output. A reference to a type prints at most the output from its target up to the
 * reference. */
static uint64_t bound_d_output(const char *name, size_t length)
{
    uint64_t *before = malloc((length + 1) * sizeof(*before)); /* output length of the first i characters */
    if (!before)
        return UINT64_MAX;
    before[0] = 0;
    for (size_t i = 0; i < length; i++) {
        uint64_t printed = count_d_output(name[i]);
        size_t target = name[i] == 'Q' ? find_d_reference_target(name, i) : i;
        if (target < i)
            printed += is_digit(name[target]) ? i - target : before[i] - before[target];
        before[i + 1] = before[i] > D_EXPANSION_MAX ? before[i] : before[i] + printed;
    }
    uint64_t expansion = before[length];
    free(before);
    return expansion;
}

bool demangle_d_is_bounded(const char *name, size_t length)
{
    return bound_d_output(name, length) <= D_EXPANSION_MAX;
}

/* ---- C++: parsing ---- */

static const char *skip_sequence_number(const char *at)
{
    return at + strspn(at, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ");
}

/* Counts references such as "T_", "T0_" (kind 'T') or "S1A_" (kind 'S') in the name, followed by `next` if that is not
 * 0. */
static size_t count_references(const char *name, char kind, char next)
{
    size_t count = 0;
    for (const char *at = name; (at = strchr(at, kind)); at++) {
        const char *end = skip_sequence_number(at + 1);
        count += *end == '_' && (!next || end[1] == next);
    }
    return count;
}

/* Each nested template argument list doubles the parsing work. */
enum { TEMPLATES_IN_CONVERSIONS_MAX = 12 };

static bool is_cpp_parsing_bounded(const char *name)
{
    return !strstr(name, "cv") || count_references(name, 'T', 'I') <= TEMPLATES_IN_CONVERSIONS_MAX;
}

/* ---- C++: searching packs ---- */

enum { REFERENCES_MAX = 4 }; /* limit of references, below which the doubling of nodes costs little */

#define SEARCH_MAX (UINT64_C(1) << 24) /* limit of visited nodes: about 50 ms */

struct tree {
    const struct demangle_component *components; /* array of all nodes */
    size_t count;
    uint64_t *sizes;    /* for each node, number of its parts, counted once per reference, plus 1, or 0 if not computed
                         * yet */
    uint64_t *searches; /* for each node, number of parts that searches for packs visit */
};

struct children {
    const struct demangle_component *left, *right;
};

static struct children list_children(const struct demangle_component *node)
{
    switch (node->type) {
    case DEMANGLE_COMPONENT_NAME:
    case DEMANGLE_COMPONENT_OPERATOR:
    case DEMANGLE_COMPONENT_BUILTIN_TYPE:
    case DEMANGLE_COMPONENT_EXTENDED_BUILTIN_TYPE:
    case DEMANGLE_COMPONENT_SUB_STD:
    case DEMANGLE_COMPONENT_TEMPLATE_PARAM:
    case DEMANGLE_COMPONENT_FUNCTION_PARAM:
    case DEMANGLE_COMPONENT_UNNAMED_TYPE:
    case DEMANGLE_COMPONENT_NUMBER:
    case DEMANGLE_COMPONENT_CHARACTER:
        return (struct children){0};
    case DEMANGLE_COMPONENT_EXTENDED_OPERATOR:
        return (struct children){.left = node->u.s_extended_operator.name};
    case DEMANGLE_COMPONENT_FIXED_TYPE:
        return (struct children){.left = node->u.s_fixed.length};
    case DEMANGLE_COMPONENT_CTOR:
        return (struct children){.left = node->u.s_ctor.name};
    case DEMANGLE_COMPONENT_DTOR:
        return (struct children){.left = node->u.s_dtor.name};
    case DEMANGLE_COMPONENT_LAMBDA:
    case DEMANGLE_COMPONENT_DEFAULT_ARG:
        return (struct children){.left = node->u.s_unary_num.sub};
    default:
        return (struct children){node->u.s_binary.left, node->u.s_binary.right};
    }
}

static uint64_t add_saturated(uint64_t a, uint64_t b)
{
    return a + b < SEARCH_MAX * 2 ? a + b : SEARCH_MAX * 2;
}

/* Returns the index of a node, or SIZE_MAX if the node is not in the tree. */
static size_t find_node_index(const struct tree *tree, const struct demangle_component *node)
{
    uintptr_t at = (uintptr_t)node - (uintptr_t)tree->components;
    return node && at / sizeof(*node) < tree->count ? at / sizeof(*node) : SIZE_MAX;
}

/* Computes `sizes` and `searches` of a node and of all nodes below it. */
static void count_visits(struct tree *tree, const struct demangle_component *node)
{
    size_t number = find_node_index(tree, node);
    if (number == SIZE_MAX || tree->sizes[number])
        return;
    tree->sizes[number] = 1;
    struct children children = list_children(node);
    const struct demangle_component *both[] = {children.left, children.right};
    uint64_t size = 1, searches = 0;
    for (size_t i = 0; i < 2; i++) {
        size_t child = find_node_index(tree, both[i]);
        if (child == SIZE_MAX)
            continue;
        count_visits(tree, both[i]);
        size = add_saturated(size, tree->sizes[child]);
        searches = add_saturated(searches, tree->searches[child]);
    }
    tree->sizes[number] = size;
    tree->searches[number] = node->type == DEMANGLE_COMPONENT_PACK_EXPANSION ? add_saturated(searches, size) : searches;
}

static bool is_pack_search_bounded(const char *name, size_t length)
{
    if (!strstr(name, "Dp") || count_references(name, 'S', '\0') <= REFERENCES_MAX)
        return true;
    void *memory = NULL;
    struct demangle_component *root =
        cplus_demangle_v3_components(name, DMGL_PARAMS | DMGL_ANSI | DMGL_NO_RECURSE_LIMIT, &memory);
    if (!root)
        return false; /* the name is not mangled, or has a form that only the demangler parses */
    struct tree tree = {.components = memory, .count = 2 * length};
    tree.sizes = calloc(tree.count, sizeof(*tree.sizes));
    tree.searches = calloc(tree.count, sizeof(*tree.searches));
    size_t number = find_node_index(&tree, root);
    bool is_soon = false;
    if (tree.sizes && tree.searches && number != SIZE_MAX) {
        count_visits(&tree, root);
        is_soon = tree.searches[number] <= SEARCH_MAX;
    }
    free(tree.sizes);
    free(tree.searches);
    free(memory);
    return is_soon;
}

bool demangle_cpp_is_bounded(const char *name, size_t length)
{
    return is_cpp_parsing_bounded(name) && is_pack_search_bounded(name, length);
}
