/*
 * `prof events [PATTERN | PROGRAM]`: lists the events that `prof record -e` can sample here. For an unavailable event,
 * prints the reason and the setting that permits it. prof events opens each event, because the machine, settings,
 * capabilities and security modules decide together.
 */
#include "cmd/common/commands.h"
#include "cmd/common/ui.h"

#include "base/json_write.h"
#include "base/search.h"
#include "elf/elf_probes.h"
#include "process/program_file.h"
#include "sample/event_list.h"
#include "sample/event_sampling.h"
#include "sample/tracefs.h"
#include "tree/quantity.h"

#include <fnmatch.h>
#include <unistd.h>

enum { NAME_WIDTH = 26, LINE_WIDTH = 100, PATTERN_SIZE = 256 };

static const struct event_place own_thread = {.cpu = -1, .ring_fd = -1};

/* ---- tests of events ---- */

/* Returns whether this user can sample the event; otherwise `why` has the reason. */
static bool try_event_name(const char *text, struct error *why)
{
    struct event_list list = {0};
    bool works =
        event_list_add(&list, text, 0, why) == 0 && event_check_access(&list.data[0], NULL, &own_thread, why) == 0;
    event_list_destroy(&list);
    return works;
}

/* ---- printing ---- */

/* Prints a list of words or a sentence in lines of LINE_WIDTH columns. */
static void print_indented(const char *text, int indent)
{
    ui_print("%*s", indent, "");
    ui_print_wrapped(text, indent, LINE_WIDTH);
}

static void print_reason(const struct error *reason)
{
    char text[sizeof(reason->text) + 16];
    snprintf(text, sizeof(text), "not here: %s", reason->text);
    print_indented(text, 4);
}

static void print_event(const char *name, const char *what)
{
    ui_print("  %-*s %s\n", NAME_WIDTH, name, what);
}

/* ---- hardware and software events ---- */

static bool is_hardware(const struct known_event *event)
{
    return event->kind == EVENT_HARDWARE || event->kind == EVENT_CACHE;
}

/* Prints available events, one per line; then the unavailable events, grouped by reason. Returns
 * whether an event matches. */
static bool list_kernel_events(const char *title, bool hardware, const char *pattern)
{
    size_t count, left = 0;
    const struct known_event *known = list_known_events(&count);
    struct error *reasons = calloc(count, sizeof(*reasons));
    bool *is_left = calloc(count, sizeof(*is_left)), any = false;
    for (size_t i = 0; reasons && is_left && i < count; i++) {
        if (is_hardware(&known[i]) != hardware || (pattern && fnmatch(pattern, known[i].name, 0)))
            continue;
        if (!any && !pattern)
            ui_print("%s\n", title);
        any = true;
        bool works = known[i].kind == EVENT_CLOCK || try_event_name(known[i].name, &reasons[i]);
        is_left[i] = !works;
        left += is_left[i];
        if (works)
            print_event(known[i].name, known[i].what);
    }
    for (size_t i = 0; left && i < count; i++) {
        char names[4096] = "";
        if (!is_left[i])
            continue;
        for (size_t k = i; k < count; k++)
            if (is_left[k] && strcmp(reasons[k].text, reasons[i].text) == 0) {
                ui_append_format(names, sizeof(names), "%s%s", *names ? " " : "", known[k].name);
                is_left[k] = false;
            }
        print_indented(names, 2);
        print_reason(&reasons[i]);
    }
    free(reasons);
    free(is_left);
    return any;
}

/* ---- tracepoints ---- */

struct system_count {
    char name[64];
    size_t count;
};

struct tracepoints {
    const char *pattern;
    ARRAY(struct system_count) systems;
    ARRAY(char *) names; /* that match the pattern */
    size_t count;
    bool no_memory;
};

static bool add_tracepoint(void *context, const char *system, const char *name)
{
    struct tracepoints *all = context;
    struct system_count *last = all->systems.length ? &all->systems.data[all->systems.length - 1] : NULL;
    char full[256];
    snprintf(full, sizeof(full), "%.120s:%.120s", system, name);
    all->count++;
    if (!last || strcmp(last->name, system) != 0) {
        last = array_push_zero(&all->systems);
        if (last)
            snprintf(last->name, sizeof(last->name), "%s", system);
    }
    if (last)
        last->count++;
    bool is_shown = all->pattern && fnmatch(all->pattern, full, 0) == 0, enough = last != NULL;
    if (is_shown && enough) {
        char *copy = strdup(full);
        enough = copy && array_push(&all->names, copy);
        if (!enough)
            free(copy);
    }
    all->no_memory = !enough;
    return enough;
}

DEFINE_COMPARE(compare_systems, struct system_count, strcmp(a->name, b->name))

DEFINE_COMPARE(compare_names, char *, strcmp(*a, *b))

static void print_systems(struct tracepoints *all)
{
    char text[8192] = "";
    array_sort(&all->systems, compare_systems);
    for (size_t i = 0; i < all->systems.length; i++)
        ui_append_format(text, sizeof(text), "%s%s:*(%zu)", i ? ", " : "", all->systems.data[i].name,
                         all->systems.data[i].count);
    if (*text)
        print_indented(text, 2);
}

/* Returns whether a tracepoint matches. */
static bool list_tracepoints(const char *pattern)
{
    struct tracepoints all = {.pattern = pattern};
    struct error why = {0};
    char count[QUANTITY_TEXT_MAX];
    int code = tracefs_list(add_tracepoint, &all, &why);
    format_count(count, (double)all.count);
    bool works = !code && all.count && try_event_name("sched:sched_switch", &why);
    if (all.no_memory)
        ui_fail("out of memory");
    if (!pattern) {
        ui_print("\nTracepoints of the kernel%s%s (prof events 'sched:*' lists the tracepoints of one system)\n",
                 code ? "" : ": ", code ? "" : count);
        print_systems(&all);
        if (!works)
            print_reason(&why);
    }
    array_sort(&all.names, compare_names);
    for (size_t i = 0; i < all.names.length; i++)
        ui_print("  %s\n", all.names.data[i]);
    bool any = all.names.length != 0;
    if (any && !works)
        print_reason(&why);
    for (size_t i = 0; i < all.names.length; i++)
        free(all.names.data[i]);
    array_free(&all.names);
    array_free(&all.systems);
    return any;
}

/* ---- probes ---- */

/* Opens a uprobe at the first instruction of a program, which runs only once. */
static bool try_probe(const char *path, struct error *why)
{
    struct elf_file file;
    char text[PATH_MAX + 64];
    if (elf_file_open(&file, path, why))
        return false;
    snprintf(text, sizeof(text), "uprobe:%s:0x%" PRIx64, path, file.entry);
    elf_file_close(&file);
    return try_event_name(text, why);
}

static void list_probes(void)
{
    struct error why = {0};
    puts("\nProbes in programs and libraries (prof events PROGRAM lists the static probes of a program)");
    print_event("uprobe:PATH:FUNCTION",
                "calls of a function; with FUNCTION+0x10 or 0xADDRESS, executions of an instruction");
    print_event("uretprobe:PATH:FUNCTION", "returns from it");
    print_event("usdt:PATH:PROVIDER:NAME", "a static probe");
    if (!try_probe("/proc/self/exe", &why))
        print_reason(&why);
}

static int compare_probes(const void *a, const void *b)
{
    const struct elf_probe *left = a, *right = b;
    int order = strcmp(left->provider, right->provider);
    return order ? order : strcmp(left->name, right->name);
}

static int list_static_probes(const char *path)
{
    struct elf_file file;
    struct elf_probes probes;
    struct error err;
    if (elf_file_open(&file, path, &err))
        return ui_fail_with_error(&err);
    int code = elf_probes_load(&probes, &file, &err);
    if (code) {
        elf_file_close(&file);
        return ui_fail_with_error(&err);
    }
    if (!probes.items.length)
        ui_print("%s has no static probes (USDT); probe its functions with uprobe:%s:FUNCTION\n", path, path);
    else
        ui_print("Static probes (USDT) of %s\n", path);
    array_sort(&probes.items, compare_probes);
    for (size_t i = 0, next; i < probes.items.length; i = next) {
        for (next = i;
             next < probes.items.length && compare_probes(&probes.items.data[i], &probes.items.data[next]) == 0;)
            next++;
        ui_print("  usdt:%s:%s:%s", path, probes.items.data[i].provider, probes.items.data[i].name);
        ui_print(next - i > 1 ? "  (%zu locations)\n" : "\n", next - i);
    }
    if (!try_probe(path, &err))
        print_reason(&err);
    elf_probes_free(&probes);
    elf_file_close(&file);
    return EXIT_SUCCESS;
}

/* ---- JSON ---- */

static void write_state(struct json_writer *json, bool works, const struct error *why)
{
    json_member_bool(json, "available", works);
    if (!works)
        json_member_text(json, "reason", why->text);
}

static void write_kernel_events(struct json_writer *json, const char *pattern)
{
    size_t count;
    const struct known_event *known = list_known_events(&count);
    json_member_open(json, "events", '[');
    for (size_t i = 0; i < count; i++) {
        struct error why = {0};
        if (pattern && fnmatch(pattern, known[i].name, 0))
            continue;
        json_open(json, '{');
        json_member_text(json, "name", known[i].name);
        json_member_text(json, "kind",
                         known[i].kind == EVENT_CLOCK ? "clock"
                         : is_hardware(&known[i])     ? "hardware"
                                                      : "software");
        json_member_text(json, "description", known[i].what);
        write_state(json, known[i].kind == EVENT_CLOCK || try_event_name(known[i].name, &why), &why);
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void write_tracepoints(struct json_writer *json, const char *pattern)
{
    struct tracepoints all = {.pattern = pattern ? pattern : "*"};
    struct error why = {0};
    int code = tracefs_list(add_tracepoint, &all, &why);
    bool works = !code && all.count && try_event_name("sched:sched_switch", &why);
    array_sort(&all.names, compare_names);
    json_member_open(json, "tracepoints", '{');
    write_state(json, works, &why);
    json_member_open(json, "names", '[');
    for (size_t i = 0; i < all.names.length; i++) {
        json_text_z(json, all.names.data[i]);
        free(all.names.data[i]);
    }
    json_close(json, ']');
    json_close(json, '}');
    array_free(&all.names);
    array_free(&all.systems);
    if (all.no_memory)
        ui_fail("out of memory");
}

/* Matches names against a shell pattern; a pattern without wildcards, such as "sched", stands for "*sched*". */
static const char *make_pattern(const char *word, char pattern[PATTERN_SIZE])
{
    snprintf(pattern, PATTERN_SIZE, strpbrk(word, "*?[") ? "%s" : "*%s*", word);
    return pattern;
}

static void write_all(struct json_writer *json, const void *word)
{
    char text[PATTERN_SIZE];
    const char *pattern = word ? make_pattern(word, text) : NULL;
    struct error why = {0};
    write_kernel_events(json, pattern);
    write_tracepoints(json, pattern);
    json_member_open(json, "probes", '{');
    write_state(json, try_probe("/proc/self/exe", &why), &why);
    json_close(json, '}');
}

/* ---- the command ---- */

static int list_matching(const char *word)
{
    char text[PATTERN_SIZE];
    const char *pattern = make_pattern(word, text);
    bool any = list_kernel_events("", false, pattern);
    any |= list_kernel_events("", true, pattern);
    any |= list_tracepoints(pattern);
    struct error why;
    const char *directory;
    if (any)
        return EXIT_SUCCESS;
    return tracefs_find(&directory, &why) ? ui_fail("no event matches '%s'; %s", word, why.text)
                                          : ui_fail("no event matches '%s'", word);
}

/* Finds a program by its path, or by its name in PATH. */
static bool find_file(const char *word, char *path)
{
    char found[PATH_MAX];
    return realpath(strchr(word, '/') || program_file_find(word, found) ? word : found, path) != NULL;
}

struct options {
    bool json;
};

static const struct option_row option_rows[] = {
    {"json", 0, NULL, "print JSON: events, tracepoints and probes, with their availability or the reason",
     OPTION_FLAG(struct options, json)},
    {.name = NULL},
};

static const char usage[] =
    "usage: prof events [--json] [PATTERN|PROGRAM]\n"
    "\n"
    "Lists the events that 'prof record -e' can sample on this machine for this user.\n"
    "Tests each event, and prints the reason and the remedy if an event is not available.\n"
    "With PATTERN ('sched:*', or a part of a name), lists the matching events and tracepoints.\n"
    "With PROGRAM (a path or a command name), lists the static probes (USDT) of that program or library.\n";

const struct option_table events_table = {
    .command = "events",
    .usage = usage,
    .groups = (const struct option_group[]){{.rows = option_rows}, {.rows = NULL}},
    .words = WORDS_PROGRAMS,
};

int cmd_events(int argc, char **argv)
{
    char path[PATH_MAX];
    struct options options = {.json = false};
    int status;
    if (!options_parse(&events_table, &options, argc, argv, &status))
        return status;
    if (argc - optind > 1)
        return ui_usage("events", "give one pattern or program, not %d", argc - optind);
    const char *word = argv[optind];
    if (options.json)
        return ui_print_json(write_all, word);
    if (word && strchr(word, '/') && !strpbrk(word, "*?["))
        return find_file(word, path) ? list_static_probes(path) : ui_fail("cannot read %s: %s", word, strerror(errno));
    if (word)
        return find_file(word, path) ? list_static_probes(path) : list_matching(word);
    list_kernel_events("CPU time and software events", false, NULL);
    putchar('\n');
    list_kernel_events("Hardware events (rNNN is the event with this raw number)", true, NULL);
    list_tracepoints(NULL);
    list_probes();
    return EXIT_SUCCESS;
}
