/*
 * symbolicate/v5. Clients send the same addresses many times, in many stacks and jobs. So the server first collects the
 * addresses of all jobs, and symbolizes each library once with its distinct addresses. Then it writes the answer in the
 * order of the request.
 */
#include "serve/symbol_api.h"

#include "base/json_write.h"
#include "base/search.h"
#include "serve/api_request.h"

/* A library of the profile that the request names. */
struct requested_lib {
    uint32_t row; /* row of the profile's library */
    struct identified_library lib;
    bool is_identified;
    ARRAY(uint64_t) rvas;         /* sorted and distinct after the last address was added */
    struct symbol_answers *found; /* in `jobs` */
    struct error problem;         /* reason for missing symbols */
};

struct lookup_of_request {
    const struct symbol_api *api;
    struct symbolicate_request request;
    uint32_t *requested_of_module;   /* for each module of the request, its index in `requested`, or SERVED_LIB_NONE */
    struct requested_lib *requested; /* each library once */
    size_t requested_count;
    struct symbol_job *jobs; /* addresses of the identified libraries */
    size_t job_count;
};

/* ---- collecting addresses ---- */

static void add_requested_lib(struct lookup_of_request *lookup, uint32_t *requested_of_row, uint32_t row)
{
    if (requested_of_row[row] != SERVED_LIB_NONE)
        return;
    requested_of_row[row] = (uint32_t)lookup->requested_count;
    lookup->requested[lookup->requested_count++].row = row;
}

/* Finds the libraries of the profile that the modules name. */
static int add_requested_libs(struct lookup_of_request *lookup, struct error *err)
{
    const struct symbolicate_request *request = &lookup->request;
    const struct served_libs *libs = &lookup->api->libs;
    size_t modules = request->modules.length, rows = libs->rows.length;
    uint32_t *requested_of_row = malloc((rows + 1) * sizeof(*requested_of_row));
    lookup->requested_of_module = malloc((modules + 1) * sizeof(*lookup->requested_of_module));
    lookup->requested = calloc((modules < rows ? modules : rows) + 1, sizeof(*lookup->requested));
    if (!requested_of_row || !lookup->requested_of_module || !lookup->requested) {
        free(requested_of_row);
        return error_no_memory(err);
    }
    for (size_t i = 0; i < rows; i++)
        requested_of_row[i] = SERVED_LIB_NONE;
    for (size_t i = 0; i < modules; i++) {
        uint32_t row = served_libs_find(libs, request->modules.data[i].key);
        lookup->requested_of_module[i] = SERVED_LIB_NONE;
        if (row == SERVED_LIB_NONE)
            continue;
        add_requested_lib(lookup, requested_of_row, row);
        lookup->requested_of_module[i] = requested_of_row[row];
    }
    free(requested_of_row);
    return 0;
}

static void identify_libs(struct lookup_of_request *lookup)
{
    for (size_t i = 0; i < lookup->requested_count; i++) {
        struct requested_lib *requested = &lookup->requested[i];
        const struct named_library *served = &lookup->api->libs.rows.data[requested->row];
        requested->is_identified = named_library_identify(served, &requested->lib, &requested->problem) == 0;
    }
}

static struct requested_lib *find_requested_lib(const struct lookup_of_request *lookup, size_t module)
{
    uint32_t index = lookup->requested_of_module[module];
    return index == SERVED_LIB_NONE ? NULL : &lookup->requested[index];
}

static int collect_rvas(struct lookup_of_request *lookup, struct error *err)
{
    const struct symbolicate_request *request = &lookup->request;
    size_t frame = 0;
    for (size_t j = 0; j < request->jobs.length; j++) {
        const struct request_job *job = &request->jobs.data[j];
        size_t last = job->first_stack + job->stack_count;
        for (size_t end = last ? request->stack_ends.data[last - 1] : 0; frame < end; frame++) {
            const struct request_frame *from = &request->frames.data[frame];
            struct requested_lib *requested = find_requested_lib(lookup, job->first_module + from->module);
            if (requested && !array_push(&requested->rvas, from->address))
                return error_no_memory(err);
        }
    }
    for (size_t i = 0; i < lookup->requested_count; i++)
        lookup->requested[i].rvas.length =
            sort_distinct(lookup->requested[i].rvas.data, lookup->requested[i].rvas.length);
    return 0;
}

static int find_modules(struct lookup_of_request *lookup, struct error *err)
{
    identify_libs(lookup);
    lookup->jobs = calloc(lookup->requested_count + 1, sizeof(*lookup->jobs));
    if (!lookup->jobs)
        return error_no_memory(err);
    for (size_t i = 0; i < lookup->requested_count; i++) {
        struct requested_lib *requested = &lookup->requested[i];
        if (!requested->is_identified)
            continue;
        struct symbol_job *job = &lookup->jobs[lookup->job_count++];
        *job = (struct symbol_job){.lib = requested->lib.symbol,
                                   .rvas = requested->rvas.data,
                                   .count = requested->rvas.length,
                                   .answers = {.count = 0}};
        requested->found = &job->answers;
    }
    return symbolizer_lookup_all(lookup->api->symbolizer, lookup->jobs, lookup->job_count, err);
}

static int symbolicate_libs(struct lookup_of_request *lookup, const char *body, size_t size, struct error *err)
{
    int code = symbolicate_request_read(&lookup->request, body, size, err);
    if (code == 0)
        code = add_requested_libs(lookup, err);
    if (code == 0)
        code = collect_rvas(lookup, err);
    if (code == 0)
        code = find_modules(lookup, err);
    return code;
}

static void lookup_destroy(struct lookup_of_request *lookup)
{
    for (size_t i = 0; i < lookup->job_count; i++)
        symbol_answers_destroy(&lookup->jobs[i].answers);
    for (size_t i = 0; i < lookup->requested_count; i++)
        array_free(&lookup->requested[i].rvas);
    free(lookup->requested);
    free(lookup->jobs);
    free(lookup->requested_of_module);
    symbolicate_request_destroy(&lookup->request);
}

/* ---- writing ---- */

static void write_text(struct json_writer *writer, const char *key, const char *text)
{
    if (!text)
        return;
    json_member_text(writer, key, text);
}

static void write_place(struct json_writer *writer, const struct symbol_frame *frame)
{
    write_text(writer, "file", frame->file);
    if (frame->line) {
        json_member_unsigned(writer, "line", frame->line);
    }
}

/* Writes the functions at an address: the calls that were inlined, innermost first, and the function that contains
 * them. */
static void write_functions(struct json_writer *writer, const struct symbol_answers *answers, size_t index,
                            uint64_t rva)
{
    const struct symbol_answer *answer = &answers->answers[index];
    if (answer->frame_count == 0)
        return;
    const struct symbol_frame *outer = &answers->frames.data[answer->first_frame];
    write_text(writer, "function", outer->function ? outer->function : answer->symbol);
    if (answer->symbol) {
        json_member_hex(writer, "function_offset", rva - answer->symbol_address);
        if (answer->symbol_size)
            json_member_hex(writer, "function_size", answer->symbol_size);
    }
    write_place(writer, outer);
    if (answer->frame_count == 1)
        return;
    json_member_open(writer, "inlines", '[');
    for (uint32_t depth = answer->frame_count - 1; depth > 0; depth--) {
        json_open(writer, '{');
        write_text(writer, "function", outer[depth].function);
        write_place(writer, &outer[depth]);
        json_close(writer, '}');
    }
    json_close(writer, ']');
}

static void write_frame(struct json_writer *writer, const struct lookup_of_request *lookup, size_t index,
                        size_t first_module, const struct request_frame *frame)
{
    const struct requested_lib *requested = find_requested_lib(lookup, first_module + frame->module);
    json_open(writer, '{');
    json_member_unsigned(writer, "frame", index);
    json_member_hex(writer, "module_offset", frame->address);
    write_text(writer, "module", lookup->request.modules.data[first_module + frame->module].name);
    if (requested && requested->found && requested->found->count) {
        size_t at = search_first_at_or_after(requested->rvas.data, requested->rvas.length, frame->address);
        write_functions(writer, requested->found, at, frame->address);
    }
    json_close(writer, '}');
}

static void write_stacks(struct json_writer *writer, const struct lookup_of_request *lookup,
                         const struct request_job *job)
{
    const struct symbolicate_request *request = &lookup->request;
    json_member_open(writer, "stacks", '[');
    for (size_t s = job->first_stack; writer->status == 0 && s < job->first_stack + job->stack_count; s++) {
        size_t first = s ? request->stack_ends.data[s - 1] : 0;
        json_open(writer, '[');
        for (size_t f = first; f < request->stack_ends.data[s]; f++)
            write_frame(writer, lookup, f - first, job->first_module, &request->frames.data[f]);
        json_close(writer, ']');
    }
    json_close(writer, ']');
}

/* Returns the reason for a missing library, or NULL if prof found the library. */
static const char *get_missing_reason(const struct requested_lib *requested)
{
    if (!requested)
        return "the profile has no library with this name and ID";
    if (!requested->is_identified)
        return requested->problem.text;
    return requested->found->is_found ? NULL : requested->found->problem;
}

static void write_missing(struct json_writer *writer, const struct request_module *module,
                          const struct requested_lib *requested)
{
    json_member_open(writer, module->key, '[');
    json_open(writer, '{');
    write_text(writer, "name", requested ? "FileNotFound" : "UnknownModule");
    write_text(writer, "message", get_missing_reason(requested));
    json_close(writer, '}');
    json_close(writer, ']');
}

/* Finds the distinct modules of a job: clients may repeat a module, but a JSON object has each key once. Returns how
 * many modules are missing, or a negative errno value. */
static int64_t write_modules(struct json_writer *writer, const struct lookup_of_request *lookup,
                             const struct request_job *job, bool missing_only, struct error *err)
{
    struct strings seen = {0};
    int64_t missing = 0;
    for (size_t i = job->first_module; missing >= 0 && i < job->first_module + job->module_count; i++) {
        const struct request_module *module = &lookup->request.modules.data[i];
        size_t known = seen.entries.length;
        uint32_t index = strings_add_z(&seen, module->key);
        if (index == STRING_NONE)
            missing = error_no_memory(err);
        if (index < known || missing < 0)
            continue;
        const struct requested_lib *requested = find_requested_lib(lookup, i);
        bool is_missing = get_missing_reason(requested) != NULL;
        missing += is_missing;
        if (missing_only && is_missing)
            write_missing(writer, module, requested);
        if (!missing_only) {
            json_member_bool(writer, module->key, !is_missing);
        }
    }
    strings_destroy(&seen);
    return missing;
}

static int write_result(struct json_writer *writer, const struct lookup_of_request *lookup,
                        const struct request_job *job, struct error *err)
{
    json_open(writer, '{');
    write_stacks(writer, lookup, job);
    json_member_open(writer, "found_modules", '{');
    int64_t missing = write_modules(writer, lookup, job, false, err);
    json_close(writer, '}');
    if (missing > 0) {
        json_member_open(writer, "module_errors", '{');
        missing = write_modules(writer, lookup, job, true, err);
        json_close(writer, '}');
    }
    json_close(writer, '}');
    return missing < 0 ? (int)missing : 0;
}

static int write_results(const struct lookup_of_request *lookup, struct api_answer *answer, struct error *err)
{
    struct byte_sink sink = api_answer_make_sink(answer);
    struct json_writer writer;
    int code = 0;
    json_writer_init(&writer, &sink, err);
    json_open(&writer, '{');
    json_member_open(&writer, "results", '[');
    for (size_t j = 0; code == 0 && j < lookup->request.jobs.length; j++)
        code = write_result(&writer, lookup, &lookup->request.jobs.data[j], err);
    json_close(&writer, ']');
    json_close(&writer, '}');
    int finished = json_writer_finish(&writer);
    return code ? code : finished;
}

void symbol_api_answer_symbolicate(const struct symbol_api *api, const char *body, size_t size,
                                   struct api_answer *answer)
{
    struct lookup_of_request lookup = {.api = api};
    struct error err = {""};
    int code = symbolicate_libs(&lookup, body, size, &err);
    if (code == 0)
        code = write_results(&lookup, answer, &err);
    lookup_destroy(&lookup);
    if (code)
        api_answer_error(answer, &err);
}
