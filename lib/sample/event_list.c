#include "sample/event_list.h"

#include "os/file_io.h"
#include "base/search.h"
#include "base/typing_distance.h"
#include "elf/elf_probes.h"
#include "sample/tracefs.h"

#include <fnmatch.h>
#include <linux/perf_event.h>

/* ---- events with a number ---- */

#define HARDWARE(name, alias, config, what)                                                                            \
    {                                                                                                                  \
        name, alias, EVENT_HARDWARE, PERF_TYPE_HARDWARE, config, false, what, false                                    \
    }
#define CACHE(name, cache, op, result, what)                                                                           \
    {                                                                                                                  \
        name, NULL, EVENT_CACHE, PERF_TYPE_HW_CACHE,                                                                   \
            PERF_COUNT_HW_CACHE_##cache | PERF_COUNT_HW_CACHE_OP_##op << 8 |                                           \
                PERF_COUNT_HW_CACHE_RESULT_##result << 16,                                                             \
            false, what, false                                                                                         \
    }
#define RARE(name, alias, config, in_kernel, what)                                                                     \
    {                                                                                                                  \
        name, alias, EVENT_SOFTWARE, PERF_TYPE_SOFTWARE, config, in_kernel, what, true                                 \
    }
#define SOFTWARE(name, alias, config, in_kernel, what)                                                                 \
    {                                                                                                                  \
        name, alias, EVENT_SOFTWARE, PERF_TYPE_SOFTWARE, config, in_kernel, what, false                                \
    }

static const struct known_event known[] = {
    {"cpu-clock", "task-clock", EVENT_CLOCK, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, false,
     "CPU time, which every recording has", false},
    SOFTWARE("page-faults", "faults", PERF_COUNT_SW_PAGE_FAULTS, false, "page faults of any kind"),
    SOFTWARE("minor-faults", NULL, PERF_COUNT_SW_PAGE_FAULTS_MIN, false, "page faults without disk access"),
    RARE("major-faults", NULL, PERF_COUNT_SW_PAGE_FAULTS_MAJ, false, "page faults with disk access"),
    SOFTWARE("context-switches", "cs", PERF_COUNT_SW_CONTEXT_SWITCHES, true, "switches of a thread off its CPU"),
    RARE("cpu-migrations", "migrations", PERF_COUNT_SW_CPU_MIGRATIONS, true, "moves of a thread to another CPU"),
    RARE("alignment-faults", NULL, PERF_COUNT_SW_ALIGNMENT_FAULTS, false,
         "unaligned accesses that the kernel handled (none on x86)"),
    RARE("emulation-faults", NULL, PERF_COUNT_SW_EMULATION_FAULTS, false, "instructions that the kernel emulated"),
    HARDWARE("cycles", "cpu-cycles", PERF_COUNT_HW_CPU_CYCLES, "cycles of the CPU"),
    HARDWARE("instructions", NULL, PERF_COUNT_HW_INSTRUCTIONS, "executed instructions"),
    HARDWARE("cache-references", NULL, PERF_COUNT_HW_CACHE_REFERENCES, "accesses to the last cache"),
    HARDWARE("cache-misses", NULL, PERF_COUNT_HW_CACHE_MISSES, "accesses that missed the last cache"),
    HARDWARE("branches", "branch-instructions", PERF_COUNT_HW_BRANCH_INSTRUCTIONS, "executed branches"),
    HARDWARE("branch-misses", NULL, PERF_COUNT_HW_BRANCH_MISSES, "mispredicted branches"),
    HARDWARE("bus-cycles", NULL, PERF_COUNT_HW_BUS_CYCLES, "cycles of the bus"),
    HARDWARE("ref-cycles", NULL, PERF_COUNT_HW_REF_CPU_CYCLES, "cycles at the nominal frequency"),
    HARDWARE("stalled-cycles-frontend", NULL, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND, "cycles waiting for instructions"),
    HARDWARE("stalled-cycles-backend", NULL, PERF_COUNT_HW_STALLED_CYCLES_BACKEND, "cycles waiting for data or units"),
    CACHE("L1-dcache-loads", L1D, READ, ACCESS, "loads from the first-level data cache"),
    CACHE("L1-dcache-load-misses", L1D, READ, MISS, "loads that missed the first-level data cache"),
    CACHE("LLC-loads", LL, READ, ACCESS, "loads from the last cache"),
    CACHE("LLC-load-misses", LL, READ, MISS, "loads that missed the last cache"),
    CACHE("dTLB-loads", DTLB, READ, ACCESS, "address translations of loads"),
    CACHE("dTLB-load-misses", DTLB, READ, MISS, "address translations of loads that missed the TLB"),
    CACHE("iTLB-load-misses", ITLB, READ, MISS, "address translations of instructions that missed the TLB"),
};

enum { KNOWN = sizeof(known) / sizeof(*known) };

const struct known_event *list_known_events(size_t *count)
{
    *count = KNOWN;
    return known;
}

static bool has_name(const struct known_event *event, const char *name, size_t length)
{
    return strncmp(event->name, name, length) == 0 && !event->name[length];
}

static bool has_alias(const struct known_event *event, const char *name, size_t length)
{
    return event->alias && strncmp(event->alias, name, length) == 0 && !event->alias[length];
}

/* Finds a known event, and replaces an alias by its name. */
static bool find_known(struct event *event)
{
    size_t length = strlen(event->name);
    for (size_t i = 0; i < KNOWN; i++) {
        bool is_alias = has_alias(&known[i], event->name, length);
        if (!has_name(&known[i], event->name, length) && !is_alias)
            continue;
        char *name = is_alias ? strdup(known[i].name) : NULL;
        if (name) {
            free(event->name);
            event->name = name;
        }
        event->kind = known[i].kind;
        event->type = known[i].type;
        event->config = known[i].config;
        event->in_kernel = known[i].in_kernel;
        if (known[i].is_rare && !event->period)
            event->period = 1;
        return true;
    }
    return false;
}

/* ---- unknown names ---- */

enum { NEAR_NAMES = 3 };

struct near_names {
    const char *text;
    size_t distance[NEAR_NAMES];
    char name[NEAR_NAMES][TYPING_WORD_MAX + 1];
};

/* Names that contain the text rank before names at the same edit distance. */
static bool suggest_if_similar(struct near_names *near, const char *name)
{
    size_t length = strlen(near->text), distance = compute_typing_distance(near->text, name), place = 0;
    if (length >= 4 && strstr(name, near->text))
        distance = 1;
    if (distance > 1 + length / 4 || strlen(name) > TYPING_WORD_MAX)
        return true;
    while (place < NEAR_NAMES && near->distance[place] <= distance && near->name[place][0])
        place++;
    for (size_t i = NEAR_NAMES - 1; i > place && place < NEAR_NAMES; i--) {
        near->distance[i] = near->distance[i - 1];
        memcpy(near->name[i], near->name[i - 1], sizeof(near->name[i]));
    }
    if (place < NEAR_NAMES) {
        near->distance[place] = distance;
        snprintf(near->name[place], sizeof(near->name[place]), "%s", name);
    }
    return true;
}

static bool suggest_tracepoint_if_similar(void *context, const char *system, const char *name)
{
    char full[TYPING_WORD_MAX + 1];
    return snprintf(full, sizeof(full), "%s:%s", system, name) >= (int)sizeof(full) ||
           suggest_if_similar(context, full);
}

static int fail_unknown_event(const char *text, struct error *err)
{
    struct near_names near = {.text = text};
    for (size_t i = 0; i < KNOWN; i++)
        suggest_if_similar(&near, known[i].name);
    tracefs_list(suggest_tracepoint_if_similar, &near, NULL);
    char list[NEAR_NAMES * (TYPING_WORD_MAX + 4)] = "";
    size_t used = 0;
    for (size_t i = 0; i < NEAR_NAMES && near.name[i][0]; i++)
        used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s", i ? " or " : "", near.name[i]);
    return error_set(err, EINVAL, "unknown event '%.128s'%s%s%s; see 'prof events'", text,
                     used ? ": did you mean " : "", list, used ? "?" : "");
}

/* ---- numbers ---- */

static bool parse_number(const char *text, int base, uint64_t *value)
{
    char *end;
    if (!*text || strspn(text, base == 16 ? "0123456789abcdefABCDEF" : "0123456789") != strlen(text))
        return false;
    errno = 0;
    *value = strtoull(text, &end, base);
    return !*end && !errno;
}

static bool is_raw(const char *text, struct event *event)
{
    event->type = PERF_TYPE_RAW;
    event->kind = EVENT_RAW;
    return text[0] == 'r' && parse_number(text + 1, 16, &event->config);
}

/* Splits "name/period=1000/" into the name and the number. Returns false if the suffix is invalid. */
static bool split_period(char *text, uint64_t *period)
{
    static const char key[] = "/period=";
    size_t length = strlen(text);
    char *at = length && text[length - 1] == '/' ? strstr(text, key) : NULL;
    if (!at)
        return true;
    text[length - 1] = '\0';
    *at = '\0';
    return parse_number(at + strlen(key), 10, period) && *period && *period <= INT64_MAX;
}

/* ---- modifiers ---- */

struct probe_prefix {
    const char *prefix;
    enum event_kind kind;
};

/* NULL without a probe. */
static const struct probe_prefix *find_probe_prefix(const char *name)
{
    static const struct probe_prefix prefixes[] = {
        {"uprobe:", EVENT_UPROBE}, {"uretprobe:", EVENT_URETPROBE}, {"usdt:", EVENT_USDT}};
    for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++)
        if (strncmp(name, prefixes[i].prefix, strlen(prefixes[i].prefix)) == 0)
            return &prefixes[i];
    return NULL;
}

/* Splits "cycles:uk" into the name and the modifiers. Probes have none. */
static void split_modifiers(struct event *event)
{
    char *colon = strrchr(event->name, ':');
    size_t length = colon ? strlen(colon + 1) : 0;
    if (!length || length > 2 || strspn(colon + 1, "uk") != length || colon[1] == colon[2] ||
        find_probe_prefix(event->name))
        return;
    event->only_user = length == 1 && colon[1] == 'u';
    event->only_kernel = length == 1 && colon[1] == 'k';
    *colon = '\0';
}

/* Applies the modifiers, and appends them to the name, which identifies the event. */
static int apply_modifiers(struct event *event, struct error *err)
{
    if (!event->only_user && !event->only_kernel)
        return 0;
    if (event->only_user && event->in_kernel)
        return error_set(err, EINVAL, "%s happens only in the kernel: ':u' would exclude all of its samples",
                         event->name);
    if (event->kind == EVENT_CLOCK)
        return error_set(err, EINVAL, "CPU time takes no modifiers ':u' and ':k': it covers user code and kernel");
    event->in_kernel |= event->only_kernel;
    size_t length = strlen(event->name);
    char *name = realloc(event->name, length + 3);
    if (!name)
        return error_no_memory(err);
    memcpy(name + length, event->only_user ? ":u" : ":k", 3);
    event->name = name;
    return 0;
}

/* ---- tracepoints ---- */

static int find_tracepoint(const char *text, struct event *event, struct error *err)
{
    char system[TYPING_WORD_MAX + 1];
    const char *colon = strchr(text, ':');
    if ((size_t)(colon - text) >= sizeof(system))
        return fail_unknown_event(text, err);
    snprintf(system, sizeof(system), "%.*s", (int)(colon - text), text);
    event->kind = EVENT_TRACEPOINT;
    event->type = PERF_TYPE_TRACEPOINT;
    event->in_kernel = true;
    struct error why;
    int code = tracefs_read_event_id(system, colon + 1, &event->config, &why);
    if (code == -EINVAL)
        return fail_unknown_event(text, err);
    return code ? error_set(err, -code, "cannot record the tracepoint %s: %s", text, why.text) : 0;
}

/* ---- probes ---- */

static int find_probe_unit(struct event *event, struct error *err)
{
    char text[32];
    if (!file_read_text("/sys/bus/event_source/devices/uprobe/type", text, sizeof(text)))
        return error_set(err, ENOENT, "cannot record %s: this kernel has no probes in programs (CONFIG_UPROBE_EVENTS)",
                         event->name);
    event->type = (uint32_t)strtoul(text, NULL, 10);
    event->config = event->kind == EVENT_URETPROBE; /* bit "retprobe" of the PMU's format */
    return 0;
}

static int add_point(struct event *event, const struct elf_file *file, uint64_t address, uint64_t semaphore,
                     struct error *err)
{
    struct event_point point = {0};
    if (!elf_file_find_offset(file, address, 1, &point.offset) ||
        (semaphore && !elf_file_find_offset(file, semaphore, sizeof(uint16_t), &point.semaphore)))
        return error_set(err, ERANGE, "cannot record %s: %s has no loaded code at 0x%" PRIx64, event->name, event->path,
                         address);
    if (point.semaphore > UINT32_MAX)
        return error_set(err, ERANGE, "cannot record %s: its semaphore is too far from the start of %s", event->name,
                         event->path);
    return array_push(&event->points, point) ? 0 : error_no_memory(err);
}

/* Finds the code addresses of FUNCTION, FUNCTION+0x10, FUNCTION+16 or 0x1234. */
static int find_places(struct event *event, const struct elf_file *file, const char *place, struct error *err)
{
    char name[4096], closest[256];
    uint64_t offset = 0;
    const char *plus = strrchr(place, '+');
    if (strncmp(place, "0x", 2) == 0)
        return parse_number(place + 2, 16, &offset)
                   ? add_point(event, file, offset, 0, err)
                   : error_set(err, EINVAL, "'%s' is not an address, in '%s'", place, event->name);
    bool is_hex = plus && strncmp(plus + 1, "0x", 2) == 0;
    if (plus && !parse_number(plus + (is_hex ? 3 : 1), is_hex ? 16 : 10, &offset))
        return error_set(err, EINVAL, "'%s' is not an offset, in '%s'", plus + 1, event->name);
    if (plus && event->kind == EVENT_URETPROBE)
        return error_set(err, EINVAL, "a return probe needs a function, not an instruction: '%s' has an offset",
                         event->name);
    snprintf(name, sizeof(name), "%.*s", plus ? (int)(plus - place) : (int)strlen(place), place);
    struct elf_addresses addresses = {0};
    int code = elf_find_function(file, name, &addresses, closest, sizeof(closest), err);
    if (!code && !addresses.length)
        code = error_set(err, EINVAL, "%s has no function '%.256s'%s%s%s; see 'prof events %s'", event->path, name,
                         closest[0] ? ": did you mean " : "", closest, closest[0] ? "?" : "", event->path);
    for (size_t i = 0; !code && i < addresses.length; i++)
        code = add_point(event, file, addresses.data[i] + offset, 0, err);
    array_free(&addresses);
    return code;
}

static int find_static_probe(struct event *event, const struct elf_file *file, const char *full_name, struct error *err)
{
    struct elf_probes probes;
    int code = elf_probes_load(&probes, file, err);
    for (size_t i = 0; !code && i < probes.items.length; i++) {
        const struct elf_probe *probe = &probes.items.data[i];
        size_t length = strlen(probe->provider);
        if (strncmp(full_name, probe->provider, length) == 0 && full_name[length] == ':' &&
            strcmp(full_name + length + 1, probe->name) == 0)
            code = add_point(event, file, probe->address, probe->semaphore, err);
    }
    if (!code && !event->points.length)
        code = error_set(err, EINVAL, "%s has no static probe '%s'%s; see 'prof events %s'", event->path, full_name,
                         probes.items.length ? "" : ", and no other", event->path);
    elf_probes_free(&probes);
    return code;
}

/* Parses "uprobe:PATH:PLACE". A path may contain colons, and the place of a static probe contains a colon. */
static int find_probe(struct event *event, struct error *err)
{
    const char *text = strchr(event->name, ':') + 1;
    const char *end = strrchr(text, ':');
    if (end && event->kind == EVENT_USDT) {
        while (end > text && end[-1] != ':')
            end--;
        end = end > text ? end - 1 : NULL;
    }
    if (!end || end == text || !end[1])
        return error_set(err, EINVAL, "'%s' is not a probe: %s", event->name,
                         event->kind == EVENT_USDT ? "usdt:PATH:PROVIDER:NAME"
                                                   : "uprobe:PATH:FUNCTION or uprobe:PATH:0xADDRESS");
    char path[PATH_MAX];
    if (snprintf(path, sizeof(path), "%.*s", (int)(end - text), text) >= (int)sizeof(path))
        return error_set(err, ENAMETOOLONG, "the path of '%.64s...' is too long", event->name);
    event->path = realpath(path, NULL);
    if (!event->path)
        return error_set(err, errno, "cannot record %s: cannot read %s: %s", event->name, path, strerror(errno));
    int code = find_probe_unit(event, err);
    struct elf_file file;
    if (!code)
        code = elf_file_open(&file, event->path, err);
    if (code)
        return code;
    code = event->kind == EVENT_USDT ? find_static_probe(event, &file, end + 1, err)
                                     : find_places(event, &file, end + 1, err);
    elf_file_close(&file);
    return code;
}

/* ---- the list ---- */

static int find_event(struct event *event, struct error *err)
{
    const char *name = event->name;
    const struct probe_prefix *probe = find_probe_prefix(name);
    if (probe) {
        event->kind = probe->kind;
        return find_probe(event, err);
    }
    const char *colon = strchr(name, ':');
    for (size_t i = 0; colon && i < KNOWN; i++)
        if (has_name(&known[i], name, (size_t)(colon - name)) || has_alias(&known[i], name, (size_t)(colon - name)))
            return error_set(err, EINVAL, "%s takes ':u' for user code or ':k' for the kernel, not '%s'", known[i].name,
                             colon);
    if (colon)
        return find_tracepoint(name, event, err);
    return find_known(event) || is_raw(name, event) ? 0 : fail_unknown_event(name, err);
}

static void event_destroy(struct event *event)
{
    free(event->name);
    free(event->path);
    array_free(&event->points);
}

static bool is_listed(const struct event_list *list, const char *name)
{
    for (size_t i = 0; i < list->length; i++)
        if (strcmp(list->data[i].name, name) == 0)
            return true;
    return false;
}

/* Takes ownership of the contents of `event`. */
static int add_event(struct event_list *list, struct event *event, struct error *err)
{
    int code = find_event(event, err);
    if (!code)
        code = apply_modifiers(event, err);
    bool adds = !code && event->kind != EVENT_CLOCK && !is_listed(list, event->name);
    if (adds && list->length == EVENTS_MAX)
        code = error_set(err, EINVAL, "a recording takes at most %d events", EVENTS_MAX);
    if (!event->period && event->kind >= EVENT_TRACEPOINT)
        event->period = 1;
    if (!code && adds && !array_push(list, *event))
        code = error_no_memory(err);
    if (code || !adds)
        event_destroy(event);
    return code;
}

/* ---- patterns ---- */

struct matches {
    const char *pattern;
    ARRAY(char *) names;
    bool no_memory;
};

static bool collect_match(void *context, const char *system, const char *name)
{
    struct matches *matches = context;
    char full[2 * TYPING_WORD_MAX];
    if (snprintf(full, sizeof(full), "%s:%s", system, name) >= (int)sizeof(full) ||
        fnmatch(matches->pattern, full, 0) != 0)
        return true;
    char *copy = strdup(full);
    matches->no_memory = !copy || !array_push(&matches->names, copy);
    if (matches->no_memory)
        free(copy);
    return !matches->no_memory;
}

DEFINE_COMPARE(compare_names, char *, strcmp(*a, *b))

/* Adds the tracepoints whose names match `pattern`; takes ownership of it. */
static int add_matches(struct event_list *list, struct event *pattern, struct error *err)
{
    struct matches matches = {.pattern = pattern->name};
    int code = tracefs_list(collect_match, &matches, err);
    if (!code && matches.no_memory)
        code = error_no_memory(err);
    else if (!code && !matches.names.length)
        code = error_set(err, EINVAL, "no tracepoint matches '%.128s'; see 'prof events'", pattern->name);
    else if (!code && matches.names.length + list->length > EVENTS_MAX)
        code = error_set(
            err, EINVAL,
            "%zu tracepoints match '%.128s', and a recording takes at most %d events; \"prof events '%.128s'\" lists them",
            matches.names.length, pattern->name, EVENTS_MAX, pattern->name);
    if (!code)
        array_sort(&matches.names, compare_names);
    for (size_t i = 0; i < matches.names.length; i++) {
        struct event event = {.name = matches.names.data[i],
                              .period = pattern->period,
                              .only_user = pattern->only_user,
                              .only_kernel = pattern->only_kernel};
        if (!code)
            code = add_event(list, &event, err);
        else
            free(event.name);
    }
    array_free(&matches.names);
    event_destroy(pattern);
    return code;
}

int event_list_add(struct event_list *list, const char *text, uint64_t period, struct error *err)
{
    struct event event = {.name = strdup(text), .period = period};
    if (!event.name)
        return error_no_memory(err);
    if (!split_period(event.name, &event.period)) {
        event_destroy(&event);
        return error_set(err, EINVAL, "'%s' needs a period of at least 1: EVENT/period=N/", text);
    }
    split_modifiers(&event);
    bool is_pattern = strpbrk(event.name, "*?[") && !find_probe_prefix(event.name);
    return is_pattern ? add_matches(list, &event, err) : add_event(list, &event, err);
}

bool event_is_switch(const struct event *event)
{
    return (event->type == PERF_TYPE_SOFTWARE && event->config == PERF_COUNT_SW_CONTEXT_SWITCHES) ||
           (event->kind == EVENT_TRACEPOINT && strcmp(event->name, "sched:sched_switch") == 0);
}

void event_list_destroy(struct event_list *list)
{
    for (size_t i = 0; i < list->length; i++)
        event_destroy(&list->data[i]);
    array_free(list);
}
