/*
 * An inlined function, or a function defined outside its class, has its name in another DIE. DW_AT_abstract_origin
 * leads from the concrete to the abstract function, DW_AT_specification from a definition to its declaration. Both
 * references may lead to another unit (link-time optimization) or another file (dwz). The first linkage name on the
 * path of references wins. A damaged file may contain loops, so the path has a length limit.
 *
 * Without a linkage name, DW_AT_name is used. In C++, DW_AT_name lacks the scope ("operator()"), and a DIE has no
 * reference to its parent. So prof finds the enclosing scopes by a search from the start of the unit.
 */
#include "symbol/demangle.h"
#include "symbol/dwarf_file.h"
#include "symbol/dwarf_names.h"

#include <dwarf.h>

enum { HOPS_MAX = 16, OTHER_UNITS_MAX = 32, SCOPES_MAX = 64, QUALIFIED_MAX = 4096 };
enum { COST_OF_DIE = 16, COST_OF_MISSING_TEXT = 1 << 16 };

/* From the list at dwarfstd.org/languages.html; <dwarf.h> of elfutils 0.188 lacks them. */
enum { LANG_CPP_17 = 0x2a, LANG_CPP_20, LANG_FORTRAN_18 = 0x2d, LANG_ADA_2005, LANG_ADA_2012 };

/* A DIE in any unit. */
struct die {
    struct dwarf_unit_reader *reader;
    uint64_t offset;
};

struct name_attributes {
    uint16_t tag;
    struct dwarf_value linkage, name, origin, specification;
};

void dwarf_names_init(struct dwarf_names *names, struct dwarf_unit_reader *reader, struct arena *arena)
{
    *names = (struct dwarf_names){.own = reader, .arena = arena};
}

static void close_other_units(struct dwarf_names *names)
{
    for (size_t i = 0; i < names->others.length; i++) {
        dwarf_unit_reader_destroy(names->others.data[i].reader);
        free(names->others.data[i].reader);
    }
    names->others.length = 0;
}

void dwarf_names_destroy(struct dwarf_names *names)
{
    close_other_units(names);
    array_free(&names->others);
    array_free(&names->list);
    hash_destroy(&names->index);
}

static struct dwarf_unit_reader *find_reader(struct dwarf_names *names, const struct dwarf_file *file, uint64_t offset)
{
    const struct dwarf_unit *unit = dwarf_file_find_unit(file, offset);
    if (!unit)
        return NULL;
    if (unit == names->own->unit)
        return names->own;
    for (size_t i = 0; i < names->others.length; i++)
        if (names->others.data[i].reader->unit == unit)
            return names->others.data[i].reader;
    if (names->others.length >= OTHER_UNITS_MAX)
        close_other_units(names);
    struct dwarf_unit_reader *reader = names->own->work_left ? malloc(sizeof(*reader)) : NULL;
    if (!reader)
        return NULL;
    int code = dwarf_unit_reader_init(reader, file, unit);
    dwarf_count_work(names->own, DWARF_UNIT_WORK_MAX - reader->work_left);
    dwarf_stop_reading(names->own, reader->verdict);
    if (code != 0 || !array_push(&names->others, (struct dwarf_other_unit){reader})) {
        dwarf_unit_reader_destroy(reader);
        free(reader);
        return NULL;
    }
    return reader;
}

static bool read_attributes(struct dwarf_names *names, struct die die, struct name_attributes *found)
{
    struct cursor c = dwarf_unit_open_cursor(die.reader, die.offset);
    const struct dwarf_abbrev *abbrev = dwarf_die_read_code(die.reader, &c);
    *found = (struct name_attributes){0};
    if (!abbrev || !dwarf_count_work(names->own, COST_OF_DIE + abbrev->attribute_count))
        return false;
    found->tag = abbrev->tag;
    for (uint32_t i = 0; i < abbrev->attribute_count; i++) {
        const struct dwarf_attribute *attribute = &dwarf_get_attributes(die.reader, abbrev)[i];
        struct dwarf_value value = dwarf_value_read(die.reader, &c, attribute);
        if (attribute->name == DW_AT_linkage_name || attribute->name == DW_AT_MIPS_linkage_name)
            found->linkage = value;
        else if (attribute->name == DW_AT_name)
            found->name = value;
        else if (attribute->name == DW_AT_abstract_origin)
            found->origin = value;
        else if (attribute->name == DW_AT_specification || attribute->name == DW_AT_extension)
            found->specification = value;
    }
    if (c.failed)
        dwarf_stop_reading_at(names->own, abbrev);
    return !c.failed;
}

/* Counts the whole section as work if the text has no NUL, because the search read the whole section. */
static const char *read_text(struct dwarf_names *names, struct die die, struct dwarf_value value)
{
    if (!value.form || !names->own->work_left)
        return NULL;
    const char *text = dwarf_value_get_text(die.reader, value);
    dwarf_count_work(names->own, text ? strlen(text) / 16 : COST_OF_MISSING_TEXT);
    bool is_elsewhere = value.form == DW_FORM_GNU_strp_alt || value.form == DW_FORM_strp_sup;
    if (!text && !(is_elsewhere && !die.reader->file->alternate))
        dwarf_stop_reading(names->own, DWARF_DAMAGED);
    return text;
}

static const char *copy_text(struct dwarf_names *names, struct die die, struct dwarf_value value)
{
    const char *text = read_text(names, die, value);
    return text && *text ? arena_copy(names->arena, text, strlen(text)) : NULL;
}

static bool follow_reference(struct dwarf_names *names, struct die *die, struct dwarf_value reference)
{
    const struct dwarf_file *file;
    uint64_t offset;
    if (!dwarf_value_resolve_reference(die->reader, reference, &offset, &file))
        return false;
    struct dwarf_unit_reader *reader = find_reader(names, file, offset);
    *die = (struct die){reader, offset};
    return reader != NULL;
}

bool dwarf_function_is_made_up(bool has_children, const char *name)
{
    static const char prefix[] = "__second_sect_of_";
    return !has_children && name && strncmp(name, prefix, sizeof(prefix) - 1) == 0;
}

bool dwarf_language_has_scoped_names(uint16_t language)
{
    switch (language) {
    case DW_LANG_C_plus_plus:
    case DW_LANG_C_plus_plus_03:
    case DW_LANG_C_plus_plus_11:
    case DW_LANG_C_plus_plus_14:
    case LANG_CPP_17:
    case LANG_CPP_20:
    case DW_LANG_ObjC_plus_plus:
    case DW_LANG_D:
    case DW_LANG_Rust:
        return true;
    default:
        return false;
    }
}

bool dwarf_language_has_whole_names(uint16_t language)
{
    switch (language) {
    case DW_LANG_Go:
    case DW_LANG_Fortran77:
    case DW_LANG_Fortran90:
    case DW_LANG_Fortran95:
    case DW_LANG_Fortran03:
    case DW_LANG_Fortran08:
    case LANG_FORTRAN_18:
    case DW_LANG_Ada83:
    case DW_LANG_Ada95:
    case LANG_ADA_2005:
    case LANG_ADA_2012:
        return true;
    default:
        return false;
    }
}

bool dwarf_language_is_ada(uint16_t language)
{
    return language == DW_LANG_Ada83 || language == DW_LANG_Ada95 || language == LANG_ADA_2005 ||
           language == LANG_ADA_2012;
}

bool dwarf_tag_is_scope(uint16_t tag)
{
    switch (tag) {
    case DW_TAG_namespace:
    case DW_TAG_class_type:
    case DW_TAG_structure_type:
    case DW_TAG_union_type:
    case DW_TAG_enumeration_type:
    case DW_TAG_interface_type:
    case DW_TAG_module:
    case DW_TAG_subprogram:
        return true;
    default:
        return false;
    }
}

static uint64_t read_sibling(struct dwarf_unit_reader *reader, const struct dwarf_abbrev *abbrev, struct cursor *c)
{
    const struct dwarf_file *file;
    uint64_t sibling = 0;
    for (uint32_t i = 0; i < abbrev->attribute_count; i++) {
        const struct dwarf_attribute *attribute = &dwarf_get_attributes(reader, abbrev)[i];
        struct dwarf_value value = dwarf_value_read(reader, c, attribute);
        if (attribute->name == DW_AT_sibling && !dwarf_value_resolve_reference(reader, value, &sibling, &file))
            sibling = 0;
    }
    return sibling;
}

/* Finds the offsets of the DIEs around `die`, outermost first. Returns the number of offsets, or 0 if the search
 * failed. */
static size_t find_scopes(struct dwarf_names *names, struct die die, uint64_t *scopes)
{
    struct dwarf_unit_reader *reader = die.reader;
    struct cursor c = dwarf_unit_load(reader);
    size_t depth = 0;
    while (cursor_left(&c) > 0 && !c.failed && dwarf_count_work(names->own, 1)) {
        uint64_t offset = dwarf_unit_get_offset(reader, c.at);
        if (offset >= die.offset)
            return offset == die.offset ? depth : 0;
        const struct dwarf_abbrev *abbrev = dwarf_die_read_code(reader, &c);
        if (!abbrev) {
            if (depth-- == 0)
                return 0;
            continue;
        }
        uint64_t sibling = abbrev->has_sibling ? read_sibling(reader, abbrev, &c) : 0;
        if (!abbrev->has_sibling)
            dwarf_die_skip(reader, abbrev, &c);
        uint64_t here = dwarf_unit_get_offset(reader, c.at);
        if (!abbrev->has_children)
            continue;
        if (sibling > here && sibling <= die.offset)
            cursor_bytes(&c, sibling - here);
        else if (depth == SCOPES_MAX)
            return 0;
        else
            scopes[depth++] = offset;
    }
    return 0;
}

/* Returns the name of a scope, or "" if the scope is not a part of names. */
static const char *find_scope_name(struct dwarf_names *names, struct die die)
{
    struct name_attributes found;
    for (int hop = 0; hop < HOPS_MAX && read_attributes(names, die, &found) && dwarf_tag_is_scope(found.tag); hop++) {
        const char *name = copy_text(names, die, found.name);
        if (name)
            return name;
        struct dwarf_value next = found.origin.form ? found.origin : found.specification;
        if (!follow_reference(names, &die, next))
            return found.tag == DW_TAG_namespace ? "(anonymous namespace)" : "";
    }
    return "";
}

static const char *add_scopes(struct dwarf_names *names, struct die die, const char *name)
{
    uint64_t scopes[SCOPES_MAX];
    char text[QUALIFIED_MAX];
    size_t length = 0, depth = find_scopes(names, die, scopes);
    for (size_t i = 0; i < depth && length < sizeof(text); i++) {
        const char *scope = find_scope_name(names, (struct die){die.reader, scopes[i]});
        if (*scope)
            length += (size_t)snprintf(text + length, sizeof(text) - length, "%s::", scope);
    }
    if (length == 0 || length >= sizeof(text))
        return name;
    length += (size_t)snprintf(text + length, sizeof(text) - length, "%s", name);
    return length < sizeof(text) ? arena_copy(names->arena, text, length) : name;
}

/* Returns NULL for a linkage name that is not mangled: in C, such a name is an alias from an asm label (glibc's
 * __GI_getaddrinfo), and DW_AT_name is better. */
static const char *demangle_linkage_name(struct dwarf_names *names, struct die die, struct dwarf_value value)
{
    const char *text = read_text(names, die, value);
    return text && is_mangled(text) ? demangle_function(text, names->arena) : NULL;
}

static struct dwarf_name find_name(struct dwarf_names *names, uint64_t offset)
{
    const char *plain = NULL;
    bool is_partial = !dwarf_language_has_whole_names(names->own->language);
    struct die die = {names->own, offset}, named = {0};
    struct name_attributes found;
    for (int hop = 0; hop < HOPS_MAX && read_attributes(names, die, &found); hop++) {
        const char *linkage = demangle_linkage_name(names, die, found.linkage);
        if (linkage)
            return (struct dwarf_name){.text = linkage};
        if (!plain && (plain = copy_text(names, die, found.name)))
            named = die;
        if (!follow_reference(names, &die, found.origin.form ? found.origin : found.specification))
            break;
    }
    /* If the unit of `named` was evicted, uses the short name. */
    struct dwarf_unit_reader *reader = plain && named.reader == names->own ? named.reader : NULL;
    for (size_t i = 0; plain && i < names->others.length; i++)
        if (names->others.data[i].reader == named.reader)
            reader = named.reader;
    if (reader && dwarf_language_has_scoped_names(reader->language))
        plain = add_scopes(names, named, plain);
    if (plain && dwarf_language_is_ada(names->own->language))
        plain = demangle_ada(plain, names->arena);
    return (struct dwarf_name){.text = plain, .is_partial = is_partial};
}

/* Returns the DIE that all inlined calls of a function share, so that prof finds the name once. */
static uint64_t find_shared_die(struct dwarf_names *names, uint64_t die)
{
    struct name_attributes found;
    const struct dwarf_file *file;
    uint64_t origin;
    if (!read_attributes(names, (struct die){names->own, die}, &found) || found.linkage.form || found.name.form)
        return die;
    if (!dwarf_value_resolve_reference(names->own, found.origin, &origin, &file) || file != names->own->file)
        return die;
    return origin;
}

struct dwarf_name dwarf_names_get(struct dwarf_names *names, uint64_t die)
{
    uint64_t shared = find_shared_die(names, die);
    uint32_t known = hash_get(&names->index, shared);
    if (known != HASH_MISSING)
        return names->list.data[known];
    struct dwarf_name name = find_name(names, die);
    if (array_push(&names->list, name) && !hash_set(&names->index, shared, (uint32_t)names->list.length - 1))
        names->list.length--;
    return name;
}
