/*
 * The pass over the DIEs of a unit.
 *
 * Reads the DIEs of a unit in file order, and skips parts without requested addresses:
 *  - values of DIEs that are not functions (dwarf_die_skip),
 *  - the contents of types, and of functions without a requested address, if DW_AT_sibling has their end (gcc writes
 * DW_AT_sibling, clang and rustc do not). A nested function may lie outside the range of the outer one, and types may
 * contain code. So if some addresses have no function, a second pass without skipping searches for them.
 *
 * Where ranges overlap, the last DIE wins, so an inlined call wins over the function that contains it. llvm-symbolizer
 * does the same (DWARFUnit::updateAddressDieMap).
 */
#include "base/search.h"
#include "symbol/dwarf_functions.h"
#include "symbol/dwarf_names.h"
#include "symbol/dwarf_ranges.h"

#include <dwarf.h>

/* Limit of depth; the deepest tree seen in real files has 60 levels. */
enum { DEPTH_MAX = 4096 };

struct level {
    struct dwarf_function function; /* the innermost function around the DIEs of this level */
    uint32_t index;                 /* index of the function in `list`, once added */
    bool in_function, is_listed;
    bool is_hit; /* the function contains a requested address; always true in the second pass */
};

struct pass {
    struct dwarf_functions *functions;
    struct dwarf_unit_reader *reader;
    const uint64_t *vaddrs;
    size_t count;
    bool thorough;
    bool no_memory;
    ARRAY(struct level) levels;
};

/* The parsed attributes of a function's DIE. */
struct parsed_function {
    struct dwarf_function function;
    struct dwarf_code code;
    struct dwarf_value name;
    uint64_t sibling; /* 0: unknown */
};

static struct parsed_function parse_function(struct pass *pass, const struct dwarf_abbrev *abbrev, struct cursor *c,
                                             uint64_t die)
{
    struct parsed_function parsed = {.function = {.die = die, .parent = DWARF_NO_FUNCTION}};
    const struct dwarf_file *file;
    for (uint32_t i = 0; i < abbrev->attribute_count; i++) {
        const struct dwarf_attribute *attribute = &dwarf_get_attributes(pass->reader, abbrev)[i];
        struct dwarf_value value = dwarf_value_read(pass->reader, c, attribute);
        switch (attribute->name) {
        case DW_AT_call_file:
            parsed.function.call_file = value.number;
            break;
        case DW_AT_call_line:
            parsed.function.call_line = value.number <= UINT32_MAX ? (uint32_t)value.number : 0;
            break;
        case DW_AT_call_column:
            parsed.function.call_column = value.number <= UINT32_MAX ? (uint32_t)value.number : 0;
            break;
        case DW_AT_name:
            parsed.name = value;
            break;
        case DW_AT_sibling:
            if (!dwarf_value_resolve_reference(pass->reader, value, &parsed.sibling, &file))
                parsed.sibling = 0;
            break;
        default:
            dwarf_code_store(&parsed.code, attribute->name, value);
        }
    }
    return parsed;
}

static uint64_t parse_sibling(struct pass *pass, const struct dwarf_abbrev *abbrev, struct cursor *c)
{
    return parse_function(pass, abbrev, c, 0).sibling;
}

/* Adds the functions around the DIEs of this level to the list, outermost first. */
static uint32_t add_function(struct pass *pass, size_t depth)
{
    size_t from = depth;
    while (from > 0 && pass->levels.data[from].in_function && !pass->levels.data[from].is_listed)
        from--;
    for (size_t i = from; i <= depth; i++) {
        struct level *level = &pass->levels.data[i];
        if (!level->in_function || level->is_listed)
            continue;
        const struct level *outer = i > 0 ? &pass->levels.data[i - 1] : NULL;
        bool is_own = !outer || !outer->in_function || outer->function.die != level->function.die;
        if (is_own) {
            level->index = (uint32_t)pass->functions->list.length;
            if (!array_push(&pass->functions->list, level->function)) {
                pass->no_memory = true;
                return DWARF_NO_FUNCTION;
            }
        } else {
            level->index = outer->index;
        }
        level->is_listed = true;
        if (outer && is_own && level->function.parent != DWARF_NO_FUNCTION)
            pass->functions->list.data[level->index].parent = outer->index;
    }
    return pass->levels.data[depth].index;
}

struct hit {
    struct pass *pass;
    size_t depth;
    bool any;
};

static bool match_range(void *context, uint64_t start, uint64_t end)
{
    struct hit *hit = context;
    struct pass *pass = hit->pass;
    if (end <= pass->vaddrs[0] || start > pass->vaddrs[pass->count - 1])
        return true;
    size_t i = search_first_at_or_after(pass->vaddrs, pass->count, start);
    for (; i < pass->count && pass->vaddrs[i] < end && pass->reader->work_left; i++, pass->reader->work_left--) {
        uint32_t index = add_function(pass, hit->depth);
        if (index == DWARF_NO_FUNCTION)
            return false;
        pass->functions->innermost[i] = index;
        hit->any = true;
    }
    return true;
}

static struct level make_level(const struct pass *pass, size_t depth, const struct parsed_function *parsed,
                               bool is_inlined)
{
    struct level level = {.function = parsed->function, .in_function = true};
    const struct level *around = &pass->levels.data[depth];
    if (is_inlined && around->in_function)
        level.function.parent = 0; /* add_function() sets this member */
    return level;
}

static bool can_contain_code(uint16_t tag)
{
    switch (tag) {
    case DW_TAG_structure_type:
    case DW_TAG_class_type:
    case DW_TAG_union_type:
    case DW_TAG_enumeration_type:
    case DW_TAG_array_type:
    case DW_TAG_subroutine_type:
    case DW_TAG_call_site:
    case DW_TAG_GNU_call_site:
        return false;
    default:
        return true;
    }
}

/* Skips the children of a DIE by its DW_AT_sibling. Returns false if DW_AT_sibling does not lead forward. */
static bool skip_to_sibling(const struct pass *pass, struct cursor *c, uint64_t sibling)
{
    uint64_t here = dwarf_unit_get_offset(pass->reader, c->at);
    if (sibling <= here)
        return false;
    cursor_bytes(c, sibling - here);
    return true;
}

static bool is_artificial_part(struct pass *pass, const struct dwarf_abbrev *abbrev,
                               const struct parsed_function *parsed)
{
    return pass->reader->unit->version == 2 &&
           dwarf_function_is_made_up(abbrev->has_children, dwarf_value_get_text(pass->reader, parsed->name));
}

static bool push_level(struct pass *pass, const struct level *level)
{
    if (pass->levels.length >= DEPTH_MAX) {
        dwarf_stop_reading_at(pass->reader, NULL);
        return false;
    }
    if (array_push(&pass->levels, *level))
        return true;
    pass->no_memory = true;
    return false;
}

/* Reads a function's DIE inside levels.data[depth]. False ends the pass. */
static bool visit_function(struct pass *pass, const struct dwarf_abbrev *abbrev, struct cursor *c, uint64_t die)
{
    size_t depth = pass->levels.length - 1;
    struct parsed_function parsed = parse_function(pass, abbrev, c, die);
    if (is_artificial_part(pass, abbrev, &parsed))
        return true;
    struct level level = make_level(pass, depth, &parsed, abbrev->tag == DW_TAG_inlined_subroutine);
    if (!push_level(pass, &level))
        return false;
    struct hit hit = {.pass = pass, .depth = depth + 1};
    dwarf_ranges_visit(pass->reader, &parsed.code, match_range, &hit);
    bool unknown = !abbrev->has_code && pass->levels.data[depth].is_hit;
    pass->levels.data[depth + 1].is_hit = hit.any || unknown || pass->thorough;
    if (!abbrev->has_children ||
        (!hit.any && !unknown && !pass->thorough && parsed.sibling && skip_to_sibling(pass, c, parsed.sibling)))
        pass->levels.length--;
    return !pass->no_memory;
}

/* Skips a DIE that is not a function, and its children if they contain no requested address. */
static bool visit_other_die(struct pass *pass, const struct dwarf_abbrev *abbrev, struct cursor *c)
{
    if (!abbrev->has_children) {
        dwarf_die_skip(pass->reader, abbrev, c);
        return true;
    }
    struct level level = pass->levels.data[pass->levels.length - 1];
    bool leave_out = !pass->thorough && (!can_contain_code(abbrev->tag) || (level.in_function && !level.is_hit));
    if (!leave_out || !abbrev->has_sibling)
        dwarf_die_skip(pass->reader, abbrev, c);
    else if (skip_to_sibling(pass, c, parse_sibling(pass, abbrev, c)))
        return true;
    return push_level(pass, &level);
}

static bool is_function(const struct dwarf_abbrev *abbrev)
{
    return abbrev->tag == DW_TAG_inlined_subroutine ||
           (abbrev->tag == DW_TAG_subprogram && (abbrev->has_code || abbrev->has_children));
}

static bool has_only_zeros(struct cursor c)
{
    while (cursor_left(&c) > 0 && !c.failed)
        if (cursor_u8(&c) != 0)
            return false;
    return true;
}

static void walk_dies(struct pass *pass)
{
    struct level root = {.index = DWARF_NO_FUNCTION};
    struct cursor c = dwarf_unit_load(pass->reader);
    const struct dwarf_abbrev *abbrev = NULL;
    pass->levels.length = 0;
    if (!push_level(pass, &root))
        return;
    if (cursor_left(&c) == 0) /* unreadable */
        dwarf_stop_reading_at(pass->reader, NULL);
    while (cursor_left(&c) > 0 && !c.failed && dwarf_count_work(pass->reader, 1)) {
        uint64_t die = dwarf_unit_get_offset(pass->reader, c.at);
        abbrev = dwarf_die_read_code(pass->reader, &c);
        if (!abbrev) {
            if (c.failed || pass->levels.length <= 2) { /* after the root's children, only padding may follow */
                c.failed |= !has_only_zeros(c);
                break;
            }
            pass->levels.length--;
            continue;
        }
        const struct level *around = &pass->levels.data[pass->levels.length - 1];
        bool look = is_function(abbrev) && (!around->in_function || around->is_hit);
        if (!(look ? visit_function(pass, abbrev, &c, die) : visit_other_die(pass, abbrev, &c)))
            break;
    }
    if (c.failed)
        dwarf_stop_reading_at(pass->reader, abbrev);
}

/* The second pass, for addresses without a function. */
static int walk_all_dies(struct pass *pass, struct error *err)
{
    uint32_t *all_innermost = pass->functions->innermost;
    uint64_t *left = malloc(pass->count * sizeof(*left));
    uint32_t *innermost = malloc(pass->count * sizeof(*innermost));
    size_t left_count = 0;
    if (!left || !innermost) {
        free(left);
        free(innermost);
        return error_no_memory(err);
    }
    for (size_t i = 0; i < pass->count; i++)
        if (all_innermost[i] == DWARF_NO_FUNCTION) {
            innermost[left_count] = DWARF_NO_FUNCTION;
            left[left_count++] = pass->vaddrs[i];
        }
    struct pass second = {
        .functions = pass->functions, .reader = pass->reader, .vaddrs = left, .count = left_count, .thorough = true};
    pass->functions->innermost = innermost;
    if (left_count)
        walk_dies(&second);
    pass->functions->innermost = all_innermost;
    for (size_t i = 0, at = 0; i < pass->count; i++)
        if (all_innermost[i] == DWARF_NO_FUNCTION)
            all_innermost[i] = innermost[at++];
    array_free(&second.levels);
    free(left);
    free(innermost);
    return second.no_memory ? error_no_memory(err) : 0;
}

int dwarf_functions_find(struct dwarf_functions *functions, struct dwarf_unit_reader *reader, const uint64_t *vaddrs,
                         size_t count, struct error *err)
{
    *functions = (struct dwarf_functions){.innermost = malloc((count + 1) * sizeof(*functions->innermost))};
    if (!functions->innermost)
        return error_no_memory(err);
    for (size_t i = 0; i < count; i++)
        functions->innermost[i] = DWARF_NO_FUNCTION;
    if (count == 0)
        return 0;
    struct pass pass = {.functions = functions, .reader = reader, .vaddrs = vaddrs, .count = count};
    pass.thorough =
        reader->unit->version == 2; /* DWARF 2 has no range lists, so nested functions may lie outside their parent */
    walk_dies(&pass);
    int code = pass.no_memory ? error_no_memory(err) : walk_all_dies(&pass, err);
    array_free(&pass.levels);
    if (code != 0)
        dwarf_functions_destroy(functions);
    return code;
}

void dwarf_functions_destroy(struct dwarf_functions *functions)
{
    array_free(&functions->list);
    free(functions->innermost);
    functions->innermost = NULL;
}
