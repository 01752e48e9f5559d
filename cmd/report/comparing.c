#include "cmd/report/comparing.h"

#include "cmd/report/selection.h"
#include "cmd/common/spool_input.h"
#include "cmd/common/symbolicating.h"
#include "cmd/common/ui.h"

#include "os/parallel.h"
#include "profile/compare.h"
#include "file/profile_file.h"
#include "profile/match_funcs.h"

#include <unistd.h>

enum { SIDE_NAME_SIZE = 4096 + 32 };

/* ---- options ---- */

static int parse_scale(const struct option_use *use)
{
    struct comparing *comparing = use->group;
    const char *text = use->value;
    static const char *const names[] = {[COMPARE_BY_NONE] = "none",
                                        [COMPARE_BY_SAMPLES] = "samples",
                                        [COMPARE_BY_CPU_TIME] = "cpu-time",
                                        [COMPARE_BY_WALL_TIME] = "wall-time"};
    static const char function[] = "function:";
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (strcmp(names[i], text) == 0) {
            comparing->by = (enum compare_by)i;
            return 0;
        }
    if (strncmp(text, function, sizeof(function) - 1) != 0 || !text[sizeof(function) - 1])
        return ui_usage(use->command, "--by takes none, samples, cpu-time, wall-time or function:NAME, not '%s'", text);
    comparing->by = COMPARE_BY_FUNCTION;
    comparing->by_function = text + sizeof(function) - 1;
    return 0;
}

static int parse_forgiven(const struct option_use *use)
{
    struct comparing *comparing = use->group;
    static const struct {
        const char *name;
        unsigned value;
    } kinds[] = {{"templates", FORGIVE_TEMPLATES}, {"suffixes", FORGIVE_SUFFIXES}};
    for (const char *at = use->value;;) {
        size_t length = strcspn(at, ","), i = 0;
        while (i < 2 && (strlen(kinds[i].name) != length || strncmp(kinds[i].name, at, length) != 0))
            i++;
        if (i == 2)
            return ui_usage(use->command, "--forgive takes templates, suffixes, or both separated by a comma, not '%s'",
                            use->value);
        comparing->forgiven |= kinds[i].value;
        if (!at[length])
            return 0;
        at += length + 1;
    }
}

static int parse_range(const struct option_use *use)
{
    struct compared_side *side = &((struct comparing *)use->group)->sides[use->row->data];
    return selection_parse_range(use->command, use->value, &side->from, &side->to);
}

const struct option_row comparing_option_rows[] = {
    {"by", 0, "WHAT",
     "scale the new side until its samples, cpu-time, wall-time or function:NAME equal those of the base (none)",
     .parse = parse_scale, .choices = "none samples cpu-time wall-time function:"},
    {"forgive", 0, "WHAT",
     "ignore parts of function names that a compiler makes: the arguments of templates (templates), suffixes such as .isra.0 and .cold (suffixes), or both (templates,suffixes)",
     .parse = parse_forgiven, .choices = "templates suffixes templates,suffixes"},
    {"base-range", 0, "FROM,TO", "limit the base to this range, such as 1.5,3 in seconds or 200ms,900ms",
     .parse = parse_range, .data = SIDE_BASE},
    {"new-range", 0, "FROM,TO", "limit the new side to this range", .parse = parse_range, .data = SIDE_NEW},
    {"base-thread", 0, "NAME", "limit the base to threads with this tid, index or name; can be given several times",
     OPTION(option_add_text, struct comparing, sides[SIDE_BASE].threads)},
    {"new-thread", 0, "NAME", "limit the new side to these threads; can be given several times",
     OPTION(option_add_text, struct comparing, sides[SIDE_NEW].threads)},
    {.name = NULL},
};

/* ---- files ---- */

int comparing_count_new_files(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--") == 0)
            return argc - i - 1;
    return -1;
}

static bool has_part(const struct compared_side *side)
{
    return side->threads.length || !isnan(side->from) || !isnan(side->to);
}

int comparing_choose_files(struct comparing *comparing, const char *command, int count, char **files, int after)
{
    struct compared_side *base = &comparing->sides[SIDE_BASE], *new = &comparing->sides[SIDE_NEW];
    comparing->splits &= count == 1 && !comparing->has_markers && !has_part(base) && !has_part(new);
    if (count == 0)
        return ui_usage(command, "no file given");
    if (count == 1 && after <= 0) {
        if (!comparing->splits && !comparing->has_markers && !has_part(base) && !has_part(new))
            return ui_usage(
                command,
                "one file given; give two files, or select two parts of the file with --base-range and --new-range, --base-thread and --new-thread, --base-markers and --new-markers, or --slowest");
        return array_push(&base->files, files[0]) && array_push(&new->files, files[0]) ? 0 : ui_fail("out of memory");
    }
    if (after < 0 && count > 2)
        return ui_usage(command, "%d files given; put the files of the new side after '--'", count);
    int news = after < 0 ? 1 : after;
    if (news == 0 || news == count)
        return ui_usage(command, "no file given %s '--'", news == 0 ? "after" : "before");
    bool enough = true;
    for (int i = 0; enough && i < count; i++) {
        struct compared_side *side = i < count - news ? base : new;
        enough = array_push(&side->files, files[i]);
    }
    return enough ? 0 : ui_fail("out of memory");
}

struct loaded_file {
    const char *path;
    struct profile profile;
    uint8_t *kept; /* per thread, or NULL (all are compared) */
    bool is_recording;
    int code; /* result of reading the file, and its error */
    struct error err;
};

/* Reads a saved profile, in any thread. finish_file() reads recordings: they use all CPUs and print their progress. */
static void read_file(void *context, size_t i)
{
    struct loaded_file *file = (struct loaded_file *)context + i;
    file->is_recording = spool_input_is_recording(file->path);
    if (!file->is_recording)
        file->code = profile_load(file->path, &file->profile, &file->err);
}

/* Completes a file of read_file(): prints the error, or reads the recording. Returns 0, or the exit status after a
 * message. */
static int finish_file(struct loaded_file *file, struct symbol_options *symbols, bool no_cache)
{
    if (file->is_recording) {
        struct assemble_result result;
        int status = spool_input_assemble(file->path, NULL, symbols, no_cache, &result);
        if (status)
            return status;
        file->code = profile_load_fd(result.memory_fd, NULL, &file->profile, &file->err);
        close(result.memory_fd);
    }
    if (file->code)
        return ui_fail_with_error(&file->err);
    return file->profile.meta.symbolicated == 0 ? symbolicate_and_report(&file->profile, file->path, symbols, no_cache)
                                                : 0;
}

/* ---- the comparison ---- */

static int select_threads(struct loaded_file *file, const struct compared_side *side)
{
    struct thread_list found = {0};
    int status = 0;
    for (size_t i = 0; !status && i < side->threads.length; i++)
        status = selection_find_threads(&file->profile, file->path, side->threads.data[i], &found);
    uint8_t *kept = status || !found.length ? NULL : calloc(file->profile.threads.length + 1, 1);
    if (!status && found.length && !kept)
        status = ui_fail("out of memory");
    for (size_t i = 0; kept && i < found.length; i++)
        kept[found.data[i]] = 1;
    file->kept = kept;
    array_free(&found);
    return status;
}

/* Reads the saved profiles in parallel. */
static void read_files(const struct comparing *comparing, struct loaded_file *files)
{
    enum { STACK_SIZE = 4 << 20, MOST_THREADS = 8 };
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    size_t count = 0;
    for (int s = 0; s < PROFILE_SIDES; s++)
        for (size_t i = 0; i < comparing->sides[s].files.length; i++, count++) {
            files[count].path = comparing->sides[s].files.data[i];
            profile_init(&files[count].profile);
        }
    parallel_for(cpus < 1              ? 1
                 : cpus > MOST_THREADS ? MOST_THREADS
                                       : (unsigned)cpus,
                 STACK_SIZE, count, read_file, files);
}

static int load_files(const struct comparing *comparing, struct symbol_options *symbols, bool no_cache,
                      struct loaded_file *files, struct compare_input *inputs)
{
    size_t count = 0;
    read_files(comparing, files);
    for (int s = 0; s < PROFILE_SIDES; s++) {
        const struct compared_side *side = &comparing->sides[s];
        for (size_t i = 0; i < side->files.length; i++, count++) {
            struct loaded_file *file = &files[count];
            int status = finish_file(file, symbols, no_cache);
            if (!status)
                status = select_threads(file, side);
            if (status)
                return status;
            inputs[count] = (struct compare_input){.profile = &file->profile,
                                                   .side = (enum profile_side)s,
                                                   .from = isnan(side->from) ? -INFINITY : side->from * 1000,
                                                   .to = isnan(side->to) ? INFINITY : side->to * 1000,
                                                   .kept = file->kept};
        }
    }
    return 0;
}

/* Names a side for the header: "base1.json.gz and 9 more". */
static void name_side(const struct compared_side *side, char out[SIDE_NAME_SIZE])
{
    size_t more = side->files.length - 1;
    char suffix[32] = "";
    if (more)
        snprintf(suffix, sizeof(suffix), " and %zu more", more);
    snprintf(out, SIDE_NAME_SIZE, "%.*s%s", SIDE_NAME_SIZE - 32, side->files.data[0], suffix);
}

int comparing_load(const struct comparing *comparing, struct symbol_options *symbols, bool no_cache,
                   struct profile *out)
{
    size_t count = comparing->sides[SIDE_BASE].files.length + comparing->sides[SIDE_NEW].files.length;
    struct loaded_file *files = calloc(count + 1, sizeof(*files));
    struct compare_input *inputs = calloc(count + 1, sizeof(*inputs));
    struct error err = {0};
    char names[PROFILE_SIDES][SIDE_NAME_SIZE];
    if (!files || !inputs) {
        free(files);
        free(inputs);
        return ui_fail("out of memory");
    }
    int status = load_files(comparing, symbols, no_cache, files, inputs);
    for (int side = 0; side < PROFILE_SIDES; side++)
        name_side(&comparing->sides[side], names[side]);
    for (size_t i = 0; !status && i < count; i++)
        inputs[i].name = names[inputs[i].side];
    if (!status && (profile_compare(out, inputs, count, comparing->forgiven, &err) ||
                    comparison_set_scale(out, comparing->by, comparing->by_function, &err)))
        status = ui_fail_with_error(&err);
    for (size_t i = 0; i < count; i++) {
        profile_destroy(&files[i].profile);
        free(files[i].kept);
    }
    free(files);
    free(inputs);
    return status;
}

void comparing_destroy(struct comparing *comparing)
{
    for (int side = 0; side < PROFILE_SIDES; side++) {
        array_free(&comparing->sides[side].files);
        array_free(&comparing->sides[side].threads);
    }
}
