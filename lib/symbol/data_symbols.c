#include "symbol/data_symbols.h"

#include "os/parallel.h"
#include "symbol/debug_file.h"
#include "symbol/demangle.h"
#include "symbol/symbol_table.h"

#include <elf.h>

struct data_run {
    struct symbol_job *jobs;
    const struct debug_search *search;
    atomic_bool no_memory;
};

static void add_file(struct symbol_matcher *matcher, const struct elf_file *file, uint64_t base)
{
    symbol_matcher_add(matcher, file, file->has_load ? file->base : base);
}

/* Returns whether an address is below the heap of the program, which begins behind the data. */
static bool is_in_data(const struct debug_files *files, uint64_t rva)
{
    const struct elf_file *file = files->has_mapped ? &files->mapped : &files->separate;
    uint64_t end = 0;
    for (size_t i = 0; i < file->sections.length; i++) {
        const struct elf_section *section = &file->sections.data[i];
        if (section->flags & SHF_WRITE && section->address + section->size > end)
            end = section->address + section->size;
    }
    return rva < end - files->base;
}

static bool match_data(const struct debug_files *files, struct symbol_job *job, struct symbol_match *matches)
{
    struct symbol_answers *answers = &job->answers;
    struct symbol_matcher matcher;
    if (symbol_matcher_init(&matcher, job->rvas, job->count, NULL))
        return false;
    matcher.finds_data = true;
    if (files->has_mapped)
        symbol_matcher_add(&matcher, &files->mapped, files->base);
    if (files->has_separate)
        add_file(&matcher, &files->separate, files->base);
    if (files->has_mini)
        add_file(&matcher, &files->mini, files->base);
    bool done = symbol_matcher_finish(&matcher, matches);
    for (size_t i = 0; done && i < job->count; i++) {
        if (!matches[i].name)
            continue;
        answers->answers[i] = (struct symbol_answer){.symbol = demangle(matches[i].name, &answers->arena),
                                                     .symbol_address = matches[i].start,
                                                     .symbol_size = matches[i].size};
        done = answers->answers[i].symbol != NULL;
    }
    symbol_matcher_destroy(&matcher);
    return done;
}

static void read_library(void *context, size_t i)
{
    struct data_run *run = context;
    struct symbol_job *job = &run->jobs[i];
    struct debug_files files;
    struct symbol_match *matches = calloc(job->count + 1, sizeof(*matches));
    job->answers.answers = arena_alloc(&job->answers.arena, (job->count + 1) * sizeof(*job->answers.answers));
    if (!matches || !job->answers.answers) {
        run->no_memory = true;
        free(matches);
        return;
    }
    memset(job->answers.answers, 0, (job->count + 1) * sizeof(*job->answers.answers));
    job->answers.count = job->count;
    debug_files_open(&files, &job->lib, run->search);
    if (job->count && is_in_data(&files, job->rvas[0]) && !match_data(&files, job, matches))
        run->no_memory = true;
    debug_files_close(&files);
    free(matches);
}

int data_symbols_find(struct symbol_job *jobs, size_t count, unsigned threads, const struct debug_search *search,
                      struct error *err)
{
    struct data_run run = {.jobs = jobs, .search = search};
    for (size_t i = 0; i < count; i++)
        jobs[i].answers = (struct symbol_answers){.problem = ""};
    parallel_for(threads, DEMANGLE_STACK_SIZE, count, read_library, &run);
    return run.no_memory ? error_no_memory(err) : 0;
}
