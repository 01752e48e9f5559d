/*
 * Three steps:
 *   1. Find the unit of each address: in .debug_aranges, otherwise in the ranges of the units' root DIEs.
 *   2. For each unit with addresses, walk all of its DIEs once: find the functions at each address, and note the scopes
 * for names. (dwarf_getscopes() would search the unit again for each address: 8 ms each in large units.)
 *   3. Build the frames of each address: dwarf_getsrc_die() for the innermost line, the outer functions for the rest.
 */
#include "base/hash.h"
#include "base/search.h"
#include "symbol/demangle.h"
#include "symbol/dwarf_names.h"
#include "symbol/libdw_elf.h"
#include "symbol/libdw_reader.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <unistd.h>

/* Limits for the cost of a file. Sections are at most LIBDW_SECTIONS_MAX. Real programs with this size have fewer than
 * DIES_MAX DIEs (about 9 bytes each). libdw skips the children of a DIE once per level, so depth has a limit, too; the
 * deepest tree seen has 60 levels. */
enum { DIES_MAX = 1 << 27, DEPTH_MAX = 256, HOPS_MAX = 16, QUALIFIED_MAX = 4096 };

/* After this number of DIEs, the reader closes the handle and opens it again, because libdw caches everything that it
 * decoded. */
enum { DIES_PER_HANDLE = 1 << 22 };

#define NO_UNIT UINT64_MAX
enum { NONE = UINT32_MAX };

struct function {
    Dwarf_Die die;
    uint32_t parent; /* index in libdw.functions of the caller, or NONE for a subprogram */
};

/* A DIE (namespace or class) that can contain functions, and is a part of their names. */
struct scope {
    Dwarf_Off die;
    uint32_t parent; /* index in libdw.scopes, or NONE */
};

/* The frames of an address, before sorting by address. */
struct piece {
    uint32_t first, count;
};

struct libdw {
    const struct libdw_request *request;
    Elf *elf, *alternate_elf;
    Dwarf *dwarf, *alternate;
    int fds[2];
    uint64_t *unit_of;           /* for each address, the offset of the root DIE, or NO_UNIT */
    struct piece *pieces;        /* per address */
    struct dwarf_frames *frames; /* in the order of discovery */
    uint64_t dies_left, dies_of_handle;
    bool no_memory;

    /* The current unit. */
    Dwarf_Die root; /* root of the DIEs: in a .dwo file, if the unit is split */
    Dwarf_Half version;
    Dwarf_Die lines;                  /* DIE that refers to the line table, which is the skeleton of a split unit */
    ARRAY(struct function) functions; /* functions that contain a requested address */
    ARRAY(struct scope) scopes;       /* by offset */
    uint32_t *innermost;              /* for each address, index in `functions`, or NONE */
    struct hash name_index;           /* DIE -> into `names` */
    ARRAY(struct dwarf_name) names;
};

/* ---- the handle ---- */

static int open_dwarf(struct libdw *libdw, struct error *err)
{
    libdw->dies_of_handle = 0;
    libdw->dwarf = dwarf_begin_elf(libdw->elf, DWARF_C_READ, NULL);
    if (libdw->dwarf && libdw->alternate_elf)
        libdw->alternate = dwarf_begin_elf(libdw->alternate_elf, DWARF_C_READ, NULL);
    if (!libdw->dwarf)
        return error_set(err, EINVAL, "libdw cannot read its debug info: %s", dwarf_errmsg(-1));
    if (!libdw_elf_has_terminated_texts(libdw->elf) || !libdw_elf_has_terminated_texts(libdw->alternate_elf))
        return error_set(err, EINVAL, "its debug info is damaged: a string section has no end");
    if (libdw->alternate)
        dwarf_setalt(libdw->dwarf, libdw->alternate);
    return 0;
}

static void forget_unit(struct libdw *libdw)
{
    libdw->functions.length = libdw->scopes.length = libdw->names.length = 0;
    hash_clear(&libdw->name_index);
}

static void close_dwarf(struct libdw *libdw)
{
    forget_unit(libdw);
    dwarf_end(libdw->dwarf);
    dwarf_end(libdw->alternate);
    libdw->dwarf = libdw->alternate = NULL;
}

static int open_handle(struct libdw *libdw, struct error *err)
{
    const struct libdw_request *request = libdw->request;
    int code = libdw_elf_open(request->file, &libdw->elf, &libdw->fds[0], err);
    if (code == 0 && request->alternate)
        code = libdw_elf_open(request->alternate, &libdw->alternate_elf, &libdw->fds[1], err);
    return code == 0 ? open_dwarf(libdw, err) : code;
}

/* ---- finding the unit of an address ---- */

static void assign_range(struct libdw *libdw, uint64_t unit, uint64_t start, uint64_t end)
{
    const struct libdw_request *request = libdw->request;
    size_t i = search_first_at_or_after(request->vaddrs, request->count, start);
    for (; i < request->count && request->vaddrs[i] < end; i++)
        if (libdw->unit_of[i] == NO_UNIT)
            libdw->unit_of[i] = unit;
}

static void search_aranges(struct libdw *libdw)
{
    Dwarf_Aranges *ranges;
    size_t count;
    if (dwarf_getaranges(libdw->dwarf, &ranges, &count) != 0)
        return;
    for (size_t i = 0; i < libdw->request->count; i++) {
        Dwarf_Arange *range = dwarf_getarange_addr(ranges, libdw->request->vaddrs[i]);
        Dwarf_Off unit;
        if (range && dwarf_getarangeinfo(range, NULL, NULL, &unit) == 0)
            libdw->unit_of[i] = unit;
    }
}

static void search_roots(struct libdw *libdw)
{
    Dwarf_Die root;
    uint8_t type;
    for (Dwarf_CU *unit = NULL; dwarf_get_units(libdw->dwarf, unit, &unit, NULL, &type, &root, NULL) == 0;) {
        Dwarf_Addr base, start, end;
        if (type != DW_UT_compile && type != DW_UT_skeleton)
            continue;
        for (ptrdiff_t at = 0; (at = dwarf_ranges(&root, at, &base, &start, &end)) > 0;)
            if (start != 0) /* the linker moves the ranges of dropped code to 0 */
                assign_range(libdw, dwarf_dieoffset(&root), start, end);
    }
}

/* ---- the functions of a unit ---- */

/* The function around the current DIE. */
struct around {
    Dwarf_Die *die;
    struct around *outer;
    uint32_t index; /* index in libdw.functions, or NONE if not added yet */
};

/* Adds a function with a requested address to the list, after its callers. */
static uint32_t add_function(struct libdw *libdw, struct around *function)
{
    if (function->index == NONE) {
        bool is_inlined = dwarf_tag(function->die) == DW_TAG_inlined_subroutine && function->outer;
        uint32_t parent = is_inlined ? add_function(libdw, function->outer) : NONE;
        function->index = (uint32_t)libdw->functions.length;
        libdw->no_memory |= !array_push(&libdw->functions, (struct function){*function->die, parent});
    }
    return function->index;
}

/* The last DIE wins: inlined calls follow the function that contains them. */
static void match_ranges(struct libdw *libdw, struct around *function)
{
    const struct libdw_request *request = libdw->request;
    Dwarf_Addr base, start, end;
    for (ptrdiff_t at = 0; (at = dwarf_ranges(function->die, at, &base, &start, &end)) > 0;) {
        size_t i = start ? search_first_at_or_after(request->vaddrs, request->count, start) : request->count;
        for (; i < request->count && request->vaddrs[i] < end && !libdw->no_memory; i++)
            libdw->innermost[i] = add_function(libdw, function);
    }
}

/* Walks the DIE and all DIEs below. Returns false if a DIE is unreadable, or at the limits of cost. */
static bool walk_dies(struct libdw *libdw, Dwarf_Die *die, struct around *around, uint32_t scope, int depth)
{
    int tag = dwarf_tag(die);
    struct around own = {die, around, NONE};
    if (libdw->dies_left == 0 || depth > DEPTH_MAX)
        return false;
    libdw->dies_left--;
    libdw->dies_of_handle++;
    bool is_function = tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine;
    if (is_function &&
        !(libdw->version == 2 && dwarf_function_is_made_up(dwarf_haschildren(die) > 0, dwarf_diename(die)))) {
        match_ranges(libdw, &own);
        around = &own;
    }
    if (dwarf_tag_is_scope((uint16_t)tag)) {
        libdw->no_memory |= !array_push(&libdw->scopes, (struct scope){dwarf_dieoffset(die), scope});
        scope = (uint32_t)libdw->scopes.length - 1;
    }
    Dwarf_Die child;
    int more = dwarf_haschildren(die) > 0 ? dwarf_child(die, &child) : 1;
    for (; more == 0 && !libdw->no_memory; more = dwarf_siblingof(&child, &child))
        if (!walk_dies(libdw, &child, around, scope, depth + 1))
            return false;
    return more > 0 && !libdw->no_memory;
}

/* ---- names ---- */

static const char *read_text(Dwarf_Die *die, unsigned attribute)
{
    Dwarf_Attribute value;
    return dwarf_attr(die, attribute, &value) ? dwarf_formstring(&value) : NULL;
}

static bool follow_reference(Dwarf_Die *die, unsigned attribute, Dwarf_Die *to)
{
    Dwarf_Attribute value;
    return dwarf_attr(die, attribute, &value) && dwarf_formref_die(&value, to);
}

static bool follow_any_reference(Dwarf_Die *die, Dwarf_Die *to)
{
    return follow_reference(die, DW_AT_abstract_origin, to) || follow_reference(die, DW_AT_specification, to) ||
           follow_reference(die, DW_AT_extension, to);
}

/* Returns the name of a scope, or "" if the scope is not a part of names. */
static const char *find_scope_name(Dwarf_Die scope)
{
    for (int hop = 0; hop < HOPS_MAX && dwarf_tag_is_scope((uint16_t)dwarf_tag(&scope)); hop++) {
        const char *name = read_text(&scope, DW_AT_name);
        if (name && *name)
            return name;
        bool is_namespace = dwarf_tag(&scope) == DW_TAG_namespace;
        if (!follow_any_reference(&scope, &scope))
            return is_namespace ? "(anonymous namespace)" : "";
    }
    return "";
}

/* Prepends "NAME::" to the text at the end of the buffer. Returns false if the buffer is full. */
static bool prepend_scope(char text[QUALIFIED_MAX], size_t *start, Dwarf_Die scope)
{
    const char *name = find_scope_name(scope);
    size_t length = strlen(name);
    if (!length)
        return true;
    if (length + 2 > *start)
        return false;
    *start -= length + 2;
    memcpy(text + *start, name, length);
    memcpy(text + *start + length, "::", 2);
    return true;
}

/* Prepends scopes of the current unit. */
static bool prepend_known_scopes(struct libdw *libdw, char text[QUALIFIED_MAX], size_t *start, Dwarf_Die *named)
{
    Dwarf_Off die = dwarf_dieoffset(named);
    const struct scope *scopes = libdw->scopes.data;
    size_t at = search_count(scopes, libdw->scopes.length, element->die < die);
    if (at == libdw->scopes.length || scopes[at].die != die)
        return false;
    for (uint32_t scope = scopes[at].parent; scope != NONE; scope = scopes[scope].parent) {
        Dwarf_Die outer;
        if (!dwarf_offdie(dwarf_cu_getdwarf(libdw->root.cu), scopes[scope].die, &outer) ||
            !prepend_scope(text, start, outer))
            return false;
    }
    return true;
}

/* Prepends the scopes of a DIE, which may be in another unit (link-time optimization, dwz). */
static bool prepend_scopes(char text[QUALIFIED_MAX], size_t *start, Dwarf_Die *named)
{
    Dwarf_Die *scopes;
    int count = dwarf_getscopes_die(named, &scopes);
    bool fits = count > 0;
    for (int i = 1; fits && i < count; i++)
        fits = prepend_scope(text, start, scopes[i]);
    if (count > 0)
        free(scopes);
    return fits;
}

static const char *add_scopes(struct libdw *libdw, Dwarf_Die *named, const char *name)
{
    char text[QUALIFIED_MAX];
    size_t length = strlen(name), start = sizeof(text);
    if (length >= sizeof(text))
        return name;
    start -= length;
    memcpy(text + start, name, length);
    bool is_own = named->cu == libdw->root.cu;
    bool fits = is_own ? prepend_known_scopes(libdw, text, &start, named) : prepend_scopes(text, &start, named);
    return fits ? arena_copy(&libdw->frames->arena, text + start, sizeof(text) - start) : name;
}

static struct dwarf_name find_name(struct libdw *libdw, Dwarf_Die die)
{
    struct arena *arena = &libdw->frames->arena;
    uint16_t language = (uint16_t)dwarf_srclang(&libdw->root);
    const char *plain = NULL;
    Dwarf_Die named = die, unit;
    bool more = true;
    for (int hop = 0; more && hop < HOPS_MAX; hop++, more = follow_any_reference(&die, &die)) {
        const char *linkage = read_text(&die, DW_AT_linkage_name);
        if (!linkage)
            linkage = read_text(&die, DW_AT_MIPS_linkage_name);
        if (linkage && is_mangled(linkage))
            return (struct dwarf_name){.text = demangle_function(linkage, arena)};
        const char *name = plain ? NULL : read_text(&die, DW_AT_name);
        if (name && *name) {
            plain = arena_copy(arena, name, strlen(name));
            named = die;
        }
    }
    if (plain && dwarf_diecu(&named, &unit, NULL, NULL) &&
        dwarf_language_has_scoped_names((uint16_t)dwarf_srclang(&unit)))
        plain = add_scopes(libdw, &named, plain);
    if (plain && dwarf_language_is_ada(language))
        plain = demangle_ada(plain, arena);
    return (struct dwarf_name){.text = plain, .is_partial = !dwarf_language_has_whole_names(language)};
}

/* All inlined calls of a function share its name. */
static struct dwarf_name find_cached_name(struct libdw *libdw, Dwarf_Die die)
{
    Dwarf_Die shared = die;
    if (!dwarf_hasattr(&die, DW_AT_name) && !dwarf_hasattr(&die, DW_AT_linkage_name))
        follow_reference(&die, DW_AT_abstract_origin, &shared);
    uint32_t known = hash_get(&libdw->name_index, (uintptr_t)shared.addr);
    if (known != HASH_MISSING)
        return libdw->names.data[known];
    struct dwarf_name name = find_name(libdw, die);
    if (array_push(&libdw->names, name) &&
        !hash_set(&libdw->name_index, (uintptr_t)shared.addr, (uint32_t)libdw->names.length - 1))
        libdw->names.length--;
    return name;
}

/* ---- frames ---- */

static uint32_t read_number(Dwarf_Die *die, unsigned attribute)
{
    Dwarf_Attribute value;
    Dwarf_Word number;
    bool is_known = dwarf_attr(die, attribute, &value) && dwarf_formudata(&value, &number) == 0;
    return is_known && number <= UINT32_MAX ? (uint32_t)number : 0;
}

/* libdw returns "???" for file 0 of older versions, and does not prepend the compilation directory to relative
 * directories of a line table. */
static const char *copy_path(struct libdw *libdw, const char *path)
{
    char whole[PATH_MAX];
    const char *directory = read_text(&libdw->lines, DW_AT_comp_dir);
    size_t length = directory ? strlen(directory) : 0;
    if (!path || strcmp(path, "???") == 0)
        return NULL;
    bool is_whole = path[0] == '/' || length == 0 || (strncmp(path, directory, length) == 0 && path[length] == '/');
    const char *slash = length && directory[length - 1] == '/' ? "" : "/";
    if (!is_whole && snprintf(whole, sizeof(whole), "%s%s%s", directory, slash, path) < (int)sizeof(whole))
        path = whole;
    return arena_copy(&libdw->frames->arena, path, strlen(path));
}

static void set_call_site(struct libdw *libdw, struct dwarf_frame *frame, Dwarf_Die *function)
{
    Dwarf_Files *files;
    size_t count;
    uint32_t file = read_number(function, DW_AT_call_file);
    bool has_file = dwarf_hasattr(function, DW_AT_call_file) && dwarf_getsrcfiles(&libdw->root, &files, &count) == 0;
    frame->file = has_file ? copy_path(libdw, dwarf_filesrc(files, file, NULL, NULL)) : NULL;
    frame->line = read_number(function, DW_AT_call_line);
    frame->column = read_number(function, DW_AT_call_column);
}

static void set_line(struct libdw *libdw, struct dwarf_frame *frame, uint64_t vaddr)
{
    Dwarf_Line *line = dwarf_getsrc_die(&libdw->lines, vaddr);
    int number, column;
    if (!line)
        return;
    frame->file = copy_path(libdw, dwarf_linesrc(line, NULL, NULL));
    frame->line = dwarf_lineno(line, &number) == 0 ? (uint32_t)number : 0;
    frame->column = dwarf_linecol(line, &column) == 0 ? (uint32_t)column : 0;
}

static bool add_frames(struct libdw *libdw, size_t i)
{
    struct dwarf_frames *frames = libdw->frames;
    size_t first = frames->list.length;
    uint32_t index = libdw->innermost[i];
    struct dwarf_frame frame = {.is_partial = true};
    set_line(libdw, &frame, libdw->request->vaddrs[i]);
    do {
        struct function *function = index == NONE ? NULL : &libdw->functions.data[index];
        struct dwarf_name name =
            function ? find_cached_name(libdw, function->die) : (struct dwarf_name){.is_partial = true};
        frame.function = name.text;
        frame.is_partial = !name.text || name.is_partial;
        if (!array_push(&frames->list, frame))
            return false;
        index = function ? function->parent : NONE;
        if (index != NONE)
            set_call_site(libdw, &frame, &function->die);
    } while (index != NONE && frames->list.length - first < DWARF_INLINES_MAX);
    dwarf_frames_reverse(frames, first);
    libdw->pieces[i] = (struct piece){(uint32_t)first, (uint32_t)(frames->list.length - first)};
    return true;
}

/* ---- units ---- */

/* Finds the root of the unit's DIEs; for a skeleton, the root of its split unit. Returns false if they must not be
 * read. */
static bool find_dies(struct libdw *libdw, Dwarf_Die *unit)
{
    uint8_t type;
    Dwarf_Die split;
    libdw->root = libdw->lines = *unit;
    if (dwarf_cu_info(unit->cu, &libdw->version, &type, NULL, NULL, NULL, NULL, NULL) != 0)
        return false;
    if (type != DW_UT_skeleton)
        return true;
    if (!libdw->request->follow_skeletons)
        return false;
    if (dwarf_cu_info(unit->cu, NULL, NULL, NULL, &split, NULL, NULL, NULL) == 0 && split.cu)
        libdw->root = split;
    return true;
}

static int read_unit(struct libdw *libdw, const struct numbered *addresses, size_t count, struct error *err)
{
    Dwarf_Die unit;
    if (libdw->dies_of_handle > DIES_PER_HANDLE) {
        close_dwarf(libdw);
        int code = open_dwarf(libdw, err);
        if (code != 0)
            return code;
    }
    forget_unit(libdw);
    if (!dwarf_offdie(libdw->dwarf, addresses[0].number, &unit) || !find_dies(libdw, &unit))
        return 0;
    for (size_t i = 0; i < count; i++)
        libdw->innermost[addresses[i].index] = NONE;
    walk_dies(libdw, &libdw->root, NULL, NONE, 0);
    for (size_t i = 0; i < count && !libdw->no_memory; i++)
        libdw->no_memory = !add_frames(libdw, addresses[i].index);
    return libdw->no_memory ? error_no_memory(err) : 0;
}

static int read_units(struct libdw *libdw, struct error *err)
{
    size_t count = libdw->request->count, used = 0;
    struct numbered *addresses = malloc((count + 1) * sizeof(*addresses));
    if (!addresses)
        return error_no_memory(err);
    search_aranges(libdw);
    search_roots(libdw);
    for (size_t i = 0; i < count; i++)
        if (libdw->unit_of[i] != NO_UNIT)
            addresses[used++] = (struct numbered){libdw->unit_of[i], i};
    sort_numbered(addresses, used);
    int code = 0;
    for (size_t first = 0, end; code == 0 && first < used; first = end) {
        for (end = first + 1; end < used && addresses[end].number == addresses[first].number;)
            end++;
        code = read_unit(libdw, addresses + first, end - first, err);
    }
    free(addresses);
    return code;
}

/* ---- all steps ---- */

/* Sorts the frames, which were found unit by unit, by address. */
static int sort_frames(const struct libdw *libdw, struct dwarf_frames *frames, struct error *err)
{
    size_t count = libdw->request->count;
    *frames = (struct dwarf_frames){.ends = malloc((count + 1) * sizeof(*frames->ends))};
    if (!frames->ends || !array_reserve(&frames->list, libdw->frames->list.length + 1)) {
        dwarf_frames_destroy(frames);
        return error_no_memory(err);
    }
    for (size_t i = 0; i < count; i++) {
        for (uint32_t f = 0; f < libdw->pieces[i].count; f++)
            frames->list.data[frames->list.length++] = libdw->frames->list.data[libdw->pieces[i].first + f];
        frames->ends[i] = (uint32_t)frames->list.length;
    }
    arena_join(&frames->arena, &libdw->frames->arena);
    return 0;
}

static void libdw_destroy(struct libdw *libdw)
{
    close_dwarf(libdw);
    elf_end(libdw->elf);
    elf_end(libdw->alternate_elf);
    for (int i = 0; i < 2; i++)
        if (libdw->fds[i] >= 0)
            close(libdw->fds[i]);
    free(libdw->unit_of);
    free(libdw->pieces);
    free(libdw->innermost);
    array_free(&libdw->functions);
    array_free(&libdw->scopes);
    array_free(&libdw->names);
    hash_destroy(&libdw->name_index);
    dwarf_frames_destroy(libdw->frames);
}

int libdw_find_frames(const struct libdw_request *request, struct dwarf_frames *frames, struct error *err)
{
    struct dwarf_frames found = {.ends = NULL};
    struct libdw libdw = {.request = request, .frames = &found, .fds = {-1, -1}, .dies_left = DIES_MAX};
    libdw.unit_of = malloc((request->count + 1) * sizeof(*libdw.unit_of));
    libdw.pieces = calloc(request->count + 1, sizeof(*libdw.pieces));
    libdw.innermost = malloc((request->count + 1) * sizeof(*libdw.innermost));
    int code = libdw.unit_of && libdw.pieces && libdw.innermost ? open_handle(&libdw, err) : error_no_memory(err);
    for (size_t i = 0; code == 0 && i < request->count; i++)
        libdw.unit_of[i] = NO_UNIT;
    if (code == 0)
        code = read_units(&libdw, err);
    if (code == 0)
        code = sort_frames(&libdw, frames, err);
    libdw_destroy(&libdw);
    return code;
}
