#include "assemble/check_symbols.h"

#include "assemble/profile_addresses.h"

struct checking {
    const struct symbol_check_listener *listener;
    struct symbol_check *check;
    ARRAY(struct symbol_job) jobs; /* jobs for libdw */
    ARRAY(size_t) own_jobs;        /* for each job, the index of our reader's job */
};

/* ---- one address ---- */

static bool is_same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static void report_difference(const struct checking *checking, struct symbol_difference difference,
                              const char *property, const char *own, const char *libdw)
{
    difference.property = property;
    difference.own = own ? own : "nothing";
    difference.libdw = libdw ? libdw : "nothing";
    checking->listener->differs(checking->listener->context, &difference);
}

static void report_numbers(const struct checking *checking, struct symbol_difference difference, const char *property,
                           size_t own, size_t libdw)
{
    char own_text[32], libdw_text[32];
    snprintf(own_text, sizeof(own_text), "%zu", own);
    snprintf(libdw_text, sizeof(libdw_text), "%zu", libdw);
    report_difference(checking, difference, property, own_text, libdw_text);
}

static bool compare_frame(const struct checking *checking, struct symbol_difference at, const struct symbol_frame *own,
                          const struct symbol_frame *libdw)
{
    bool same_function = is_same_text(own->function, libdw->function), same_file = is_same_text(own->file, libdw->file);
    if (!same_function)
        report_difference(checking, at, "function", own->function, libdw->function);
    if (!same_file)
        report_difference(checking, at, "file", own->file, libdw->file);
    if (own->line != libdw->line)
        report_numbers(checking, at, "line", own->line, libdw->line);
    else if (own->column != libdw->column)
        report_numbers(checking, at, "column", own->column, libdw->column);
    return same_function && same_file && own->line == libdw->line && own->column == libdw->column;
}

/* Returns the frame of an answer at this depth; 0 is the innermost frame. NULL if the answer has no such frame. */
static const struct symbol_frame *get_frame_at(const struct symbol_answers *answers, size_t address, size_t depth)
{
    const struct symbol_answer *answer = &answers->answers[address];
    return &answers->frames.data[answer->first_frame + answer->frame_count - 1 - depth];
}

static bool compare_address(const struct checking *checking, struct symbol_difference at,
                            const struct symbol_answers *own, const struct symbol_answers *libdw, size_t address)
{
    size_t count = own->answers[address].frame_count, other = libdw->answers[address].frame_count;
    bool is_same = count == other;
    if (!is_same)
        report_numbers(checking, at, "number of frames", count, other);
    for (at.depth = 0; at.depth < count && at.depth < other; at.depth++)
        is_same &=
            compare_frame(checking, at, get_frame_at(own, address, at.depth), get_frame_at(libdw, address, at.depth));
    return is_same;
}

/* ---- libraries ---- */

static void report_skipped(const struct checking *checking, const struct symbol_job *job, const char *why)
{
    checking->listener->skipped(checking->listener->context, job->lib.name, why);
}

/* Lists the addresses for libdw. */
static int choose_jobs(struct checking *checking, const struct address_batches *batches, struct error *err)
{
    for (size_t i = 0; i < batches->jobs.length; i++) {
        const struct symbol_job *job = &batches->jobs.data[i];
        checking->check->addresses += job->count;
        if (job->answers.is_damaged) {
            report_skipped(checking, job, "its debug info is damaged");
        } else if (job->lib.kind == SYMBOL_LIB_MODULE && job->answers.has_debug_info) {
            report_skipped(checking, job, "libdw does not read object files (.o)");
        } else if (job->answers.has_debug_info) {
            struct symbol_job other = {.lib = job->lib, .rvas = job->rvas, .count = job->count};
            if (!array_push(&checking->jobs, other) || !array_push(&checking->own_jobs, i))
                return error_no_memory(err);
        }
    }
    return 0;
}

static void compare_library(const struct checking *checking, const struct symbol_job *own,
                            const struct symbol_job *libdw)
{
    if (libdw->answers.problem[0] && libdw->answers.from_libdw == 0) {
        report_skipped(checking, own, libdw->answers.problem);
        return;
    }
    checking->check->declined += own->answers.from_libdw;
    checking->check->compared += libdw->answers.from_libdw - own->answers.from_libdw;
    for (size_t i = 0; i < own->count; i++) {
        struct symbol_difference at = {.library = own->lib.name, .rva = own->rvas[i]};
        checking->check->differing += !compare_address(checking, at, &own->answers, &libdw->answers, i);
    }
}

/* ---- the comparison ---- */

static int look_up(struct symbol_job *jobs, size_t count, enum symbol_reader reader, const struct debug_search *search,
                   struct error *err)
{
    struct symbolizer_options options = {.reader = reader, .search = search};
    struct symbolizer *symbolizer = symbolizer_new(&options);
    int code = symbolizer ? symbolizer_lookup_all(symbolizer, jobs, count, err) : error_no_memory(err);
    symbolizer_free(symbolizer);
    return code;
}

int profile_check_symbols(const struct profile *profile, const struct debug_search *search,
                          const struct symbol_check_listener *listener, struct symbol_check *check, struct error *err)
{
    struct profile_addresses addresses;
    struct checking checking = {.listener = listener, .check = check};
    *check = (struct symbol_check){.addresses = 0};
    int code = profile_addresses_make(&addresses, profile, &profile->frames, err);
    struct symbol_job *jobs = addresses.batches.jobs.data;
    if (code == 0)
        code = look_up(jobs, addresses.batches.jobs.length, SYMBOL_READER_OWN, search, err);
    if (code == 0)
        code = choose_jobs(&checking, &addresses.batches, err);
    if (code == 0)
        code = look_up(checking.jobs.data, checking.jobs.length, SYMBOL_READER_LIBDW, search, err);
    for (size_t i = 0; code == 0 && i < checking.jobs.length; i++)
        compare_library(&checking, &jobs[checking.own_jobs.data[i]], &checking.jobs.data[i]);
    for (size_t i = 0; i < checking.jobs.length; i++)
        symbol_answers_destroy(&checking.jobs.data[i].answers);
    array_free(&checking.jobs);
    array_free(&checking.own_jobs);
    profile_addresses_destroy(&addresses);
    return code;
}
