#include "profile/match_funcs.h"

#include "base/hash.h"
#include "base/search.h"

enum { RESOURCE_LIBRARY = 1 };

/* ---- names ---- */

static bool is_version(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if ((text[i] < '0' || text[i] > '9') && text[i] != '.')
            return false;
    return length > 0;
}

size_t measure_library_stem(const char *name)
{
    size_t length = strlen(name);
    for (const char *so = strstr(name, ".so"); so; so = strstr(so + 1, ".so"))
        if (so > name && (so[3] == '\0' || so[3] == '.')) {
            length = (size_t)(so - name);
            break;
        }
    for (size_t i = length; i-- > 1;)
        if (name[i] == '-')
            return is_version(name + i + 1, length - i - 1) ? i : length;
    return length;
}

static uint64_t hash_name(const struct profile *profile, uint32_t string)
{
    if (string >= profile->strings.entries.length)
        return 0;
    const struct string_entry *entry = &profile->strings.entries.data[string];
    return hash_bytes(entry->text, entry->length);
}

/* Hashes the name of a file and of its directory: the directories above depend on the build machine. */
static uint64_t hash_file(const struct profile *profile, uint32_t source)
{
    if (source >= profile->sources.length)
        return 0;
    const char *path = profile_text(profile, profile->sources.data[source].filename);
    size_t length = strlen(path), at = length;
    for (int parts = 0; at > 0; at--)
        if (path[at - 1] == '/' && ++parts == 2)
            break;
    return hash_bytes(path + at, length - at);
}

/* ---- libraries ---- */

static uint64_t hash_resource(const struct profile *profile, uint32_t index)
{
    const struct resource *resource = &profile->resources.data[index];
    const char *name = profile_text(profile, resource->name);
    size_t length = resource->type == RESOURCE_LIBRARY ? measure_library_stem(name) : strlen(name);
    return hash_mix(hash_bytes(name, length), resource->type);
}

struct rename_vote {
    uint32_t base, other, count;
};

/* Counts the common function names of pairs of unpaired libraries, one of each side. */
struct rename_votes {
    struct hash funcs; /* name -> func of the base, in an unpaired library */
    struct hash index; /* a pair of libraries -> votes */
    ARRAY(struct rename_vote) votes;
    uint32_t *size[PROFILE_SIDES]; /* functions of each library */
};

static bool count_funcs(const struct profile *profile, uint32_t **sizes)
{
    *sizes = calloc(profile->resources.length + 1, sizeof(**sizes));
    for (size_t i = 0; *sizes && i < profile->funcs.length; i++)
        if (profile->funcs.resource[i] != PROFILE_NONE)
            (*sizes)[profile->funcs.resource[i]]++;
    return *sizes != NULL;
}

static bool add_vote(struct rename_votes *votes, uint32_t base, uint32_t other)
{
    uint32_t *place = hash_at(&votes->index, (uint64_t)base << 32 | other);
    if (!place)
        return false;
    if (*place == HASH_MISSING) {
        *place = (uint32_t)votes->votes.length;
        return array_push(&votes->votes, (struct rename_vote){base, other, 1});
    }
    votes->votes.data[*place].count++;
    return true;
}

static bool collect_votes(struct rename_votes *votes, const struct profile *base, const struct profile *other,
                          const uint8_t *is_paired, const uint32_t *resource_of)
{
    bool enough = count_funcs(base, &votes->size[SIDE_BASE]) && count_funcs(other, &votes->size[SIDE_NEW]);
    for (uint32_t i = 0; enough && i < base->funcs.length; i++) {
        uint32_t resource = base->funcs.resource[i];
        if (resource != PROFILE_NONE && !is_paired[resource] && base->resources.data[resource].type == RESOURCE_LIBRARY)
            enough = hash_set(&votes->funcs, hash_name(base, base->funcs.name[i]), i);
    }
    for (uint32_t i = 0; enough && i < other->funcs.length; i++) {
        uint32_t resource = other->funcs.resource[i];
        if (resource == PROFILE_NONE || resource_of[resource] != PROFILE_NONE ||
            profile_is_address(profile_text(other, other->funcs.name[i])))
            continue;
        uint32_t func = hash_get(&votes->funcs, hash_name(other, other->funcs.name[i]));
        if (func != HASH_MISSING)
            enough = add_vote(votes, base->funcs.resource[func], resource);
    }
    return enough;
}

static void pair_renamed(const struct rename_votes *votes, uint8_t *is_paired, uint32_t *resource_of)
{
    for (;;) {
        const struct rename_vote *best = NULL;
        for (size_t i = 0; i < votes->votes.length; i++) {
            const struct rename_vote *at = &votes->votes.data[i];
            uint32_t smaller = votes->size[SIDE_BASE][at->base] < votes->size[SIDE_NEW][at->other]
                                   ? votes->size[SIDE_BASE][at->base]
                                   : votes->size[SIDE_NEW][at->other];
            if (!is_paired[at->base] && resource_of[at->other] == PROFILE_NONE && at->count * 2 >= smaller &&
                (!best || at->count > best->count))
                best = at;
        }
        if (!best)
            return;
        is_paired[best->base] = 1;
        resource_of[best->other] = best->base;
    }
}

static int match_resources(uint32_t *resource_of, const struct profile *base, const struct profile *other,
                           struct error *err)
{
    struct hash by_name = {0};
    struct rename_votes votes = {.size = {NULL, NULL}};
    uint8_t *is_paired = calloc(base->resources.length + 1, 1);
    bool enough = is_paired != NULL;
    for (uint32_t i = 0; enough && i < base->resources.length; i++) {
        uint32_t *place = hash_at(&by_name, hash_resource(base, i));
        enough = place != NULL;
        if (enough && *place == HASH_MISSING)
            *place = i;
    }
    for (uint32_t i = 0; enough && i < other->resources.length; i++) {
        resource_of[i] = hash_get(&by_name, hash_resource(other, i));
        if (resource_of[i] != HASH_MISSING)
            is_paired[resource_of[i]] = 1;
    }
    enough = enough && collect_votes(&votes, base, other, is_paired, resource_of);
    if (enough)
        pair_renamed(&votes, is_paired, resource_of);
    hash_destroy(&by_name);
    hash_destroy(&votes.funcs);
    hash_destroy(&votes.index);
    array_free(&votes.votes);
    free(votes.size[SIDE_BASE]);
    free(votes.size[SIDE_NEW]);
    free(is_paired);
    return enough ? 0 : error_no_memory(err);
}

/* ---- functions ---- */

/* Matching passes, strictest first: the attributes that two functions must share. */
enum match_pass { MATCH_PLACE, MATCH_FILE, MATCH_NAME, MATCH_PASSES };

struct func_order {
    uint32_t line, column, func;
};

DEFINE_COMPARE(compare_order, struct func_order,
               ORDER_THEN(a->line, b->line, ORDER_THEN(a->column, b->column, ORDER(a->func, b->func))))

/* The functions of a profile, prepared for all matching passes. */
struct side_funcs {
    const struct profile *profile;
    struct func_order *order;
    uint64_t *names, *files; /* hashes of each function's name, file and library */
};

static bool side_funcs_init(struct side_funcs *side, const struct profile *profile)
{
    size_t length = profile->funcs.length;
    *side = (struct side_funcs){.profile = profile,
                                .order = malloc((length + 1) * sizeof(*side->order)),
                                .names = malloc((length + 1) * sizeof(*side->names)),
                                .files = malloc((length + 1) * sizeof(*side->files))};
    if (!side->order || !side->names || !side->files)
        return false;
    for (uint32_t i = 0; i < length; i++) {
        side->order[i] = (struct func_order){profile->funcs.line[i], profile->funcs.column[i], i};
        side->names[i] = hash_name(profile, profile->funcs.name[i]);
        side->files[i] = hash_file(profile, profile->funcs.source[i]);
    }
    qsort(side->order, length, sizeof(*side->order), compare_order);
    return true;
}

static void side_funcs_destroy(struct side_funcs *side)
{
    free(side->order);
    free(side->names);
    free(side->files);
}

/* Makes the key of a function. `resource`: a resource of the base. */
static uint64_t make_func_key(const struct side_funcs *side, uint32_t func, uint32_t resource, enum match_pass pass)
{
    const struct func_table *funcs = &side->profile->funcs;
    uint64_t key = hash_mix(side->names[func], resource);
    if (pass <= MATCH_FILE)
        key = hash_mix(key, side->files[func]);
    return pass == MATCH_PLACE ? hash_mix(key, (uint64_t)funcs->line[func] << 32 | funcs->column[func]) : key;
}

struct func_matcher {
    struct side_funcs base, other;
    uint8_t *is_taken;  /* per func of the base */
    uint32_t *next;     /* the next unmatched func of the base with the same key */
    struct hash first;  /* key -> func of the base */
    struct hash others; /* key -> number of unmatched funcs of the other side, for matching by name alone */
};

/* Lists the unmatched funcs of the base by key, each list sorted by line. */
static bool list_base(struct func_matcher *matcher, enum match_pass pass)
{
    const struct func_table *funcs = &matcher->base.profile->funcs;
    hash_clear(&matcher->first);
    for (size_t i = funcs->length; i-- > 0;) {
        uint32_t func = matcher->base.order[i].func;
        if (matcher->is_taken[func])
            continue;
        uint32_t *place = hash_at(&matcher->first, make_func_key(&matcher->base, func, funcs->resource[func], pass));
        if (!place)
            return false;
        matcher->next[func] = *place == HASH_MISSING ? PROFILE_NONE : *place;
        *place = func;
    }
    return true;
}

static bool is_unmatched(const struct func_matches *matches, const struct profile *other, uint32_t func,
                         uint32_t *resource)
{
    uint32_t own = other->funcs.resource[func];
    *resource = own == PROFILE_NONE ? PROFILE_NONE : matches->resource[own];
    return matches->func[func] == PROFILE_NONE && (own == PROFILE_NONE || *resource != PROFILE_NONE);
}

static bool count_unmatched(struct func_matcher *matcher, const struct func_matches *matches)
{
    uint32_t resource;
    for (uint32_t func = 0; func < matcher->other.profile->funcs.length; func++) {
        if (!is_unmatched(matches, matcher->other.profile, func, &resource))
            continue;
        uint32_t *place = hash_at(&matcher->others, make_func_key(&matcher->other, func, resource, MATCH_NAME));
        if (!place)
            return false;
        *place = *place == HASH_MISSING ? 1 : *place + 1;
    }
    return true;
}

/* Returns whether functions that share only the name match. Two such functions match if no other candidate exists, or
 * if the file of one function is unknown. */
static bool is_name_enough(const struct func_matcher *matcher, uint32_t base, uint32_t other, uint64_t key)
{
    if (matcher->base.profile->funcs.source[base] == PROFILE_NONE ||
        matcher->other.profile->funcs.source[other] == PROFILE_NONE)
        return true;
    return matcher->next[base] == PROFILE_NONE && hash_get(&matcher->others, key) == 1;
}

static bool match_in_pass(struct func_matcher *matcher, struct func_matches *matches, enum match_pass pass)
{
    if (!list_base(matcher, pass) || (pass == MATCH_NAME && !count_unmatched(matcher, matches)))
        return false;
    for (size_t i = 0; i < matcher->other.profile->funcs.length; i++) {
        uint32_t func = matcher->other.order[i].func, resource;
        if (!is_unmatched(matches, matcher->other.profile, func, &resource))
            continue;
        uint64_t key = make_func_key(&matcher->other, func, resource, pass);
        uint32_t base = hash_get(&matcher->first, key);
        if (base == HASH_MISSING || (pass == MATCH_NAME && !is_name_enough(matcher, base, func, key)))
            continue;
        matches->func[func] = base;
        matcher->is_taken[base] = 1;
        if (matcher->next[base] == PROFILE_NONE)
            hash_remove(&matcher->first, key);
        else if (!hash_set(&matcher->first, key, matcher->next[base]))
            return false;
    }
    return true;
}

static int match_funcs(struct func_matches *matches, const struct profile *base, const struct profile *other,
                       struct error *err)
{
    struct func_matcher matcher = {.is_taken = calloc(base->funcs.length + 1, 1),
                                   .next = malloc((base->funcs.length + 1) * sizeof(uint32_t))};
    bool enough = side_funcs_init(&matcher.base, base) && side_funcs_init(&matcher.other, other) && matcher.is_taken &&
                  matcher.next;
    for (int pass = MATCH_PLACE; enough && pass < MATCH_PASSES; pass++)
        enough = match_in_pass(&matcher, matches, (enum match_pass)pass);
    side_funcs_destroy(&matcher.base);
    side_funcs_destroy(&matcher.other);
    free(matcher.is_taken);
    free(matcher.next);
    hash_destroy(&matcher.first);
    hash_destroy(&matcher.others);
    return enough ? 0 : error_no_memory(err);
}

int func_matches_find(struct func_matches *matches, const struct profile *base, const struct profile *other,
                      struct error *err)
{
    size_t funcs = other->funcs.length, resources = other->resources.length;
    *matches =
        (struct func_matches){malloc((funcs + 1) * sizeof(uint32_t)), malloc((resources + 1) * sizeof(uint32_t))};
    if (!matches->func || !matches->resource)
        return error_no_memory(err);
    memset(matches->func, 0xff, (funcs + 1) * sizeof(uint32_t));
    memset(matches->resource, 0xff, (resources + 1) * sizeof(uint32_t));
    int code = match_resources(matches->resource, base, other, err);
    return code ? code : match_funcs(matches, base, other, err);
}

void func_matches_destroy(struct func_matches *matches)
{
    free(matches->func);
    free(matches->resource);
    *matches = (struct func_matches){0};
}
