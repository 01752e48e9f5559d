#include "assemble/live_assembly.h"

#include "assemble/library_sources.h"
#include "assemble/process_jitdump.h"
#include "assemble/process_perf_map.h"
#include "assemble/replay.h"
#include "assemble/sample_rows.h"
#include "os/clock.h"
#include "os/file_io.h"
#include "base/text_buffer.h"
#include "spool/info.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* The recorder flushes about every second: older samples are complete. */
static const uint64_t final_after_ns = UINT64_C(2) * 1000 * 1000 * 1000;

/* The part of a sample table that is already in the file. */
struct live_table {
    struct sample_rows_state state; /* state after the final rows */
    uint64_t sent;                  /* stored samples in the file, including the last sample, which may change */
    uint64_t sent_time;             /* ns: of that */
};

struct live_thread {
    struct live_table samples;
    ARRAY(struct live_table) events;
    uint64_t slices_sent; /* stored slice samples in the file */
};

struct live_assembly {
    const char *spool_path;
    const struct assemble_options *options;
    struct assembly assembly;
    ARRAY(struct live_thread) threads; /* per thread of the replay */
    struct text_buffer text;           /* of this step */
    int fd;
    uint64_t added;            /* bytes */
    struct profile_rows sent;  /* rows of the shared tables in the file */
    ARRAY(bool) is_in_library; /* for each source, true for a file of native code */
    size_t known_frames;       /* frames whose source files is_in_library covers */
    uint64_t unnamed_at_first; /* addresses of JIT code */
    uint64_t name_bytes_at_first;
    bool is_begun;
};

struct live_assembly *live_assembly_new(const char *spool_path, const struct assemble_options *options)
{
    struct live_assembly *live = calloc(1, sizeof(*live));
    if (!live)
        return NULL;
    live->spool_path = spool_path;
    live->options = options;
    live->fd = -1;
    assembly_init(&live->assembly, options);
    return live;
}

void live_assembly_free(struct live_assembly *live)
{
    if (!live)
        return;
    for (size_t i = 0; i < live->threads.length; i++)
        array_free(&live->threads.data[i].events);
    array_free(&live->threads);
    array_free(&live->is_in_library);
    array_free(&live->text);
    if (live->fd >= 0)
        close(live->fd);
    assembly_destroy(&live->assembly);
    free(live);
}

int live_assembly_get_fd(const struct live_assembly *live)
{
    return live->fd;
}

static uint64_t get_file_size(int fd)
{
    struct stat info;
    uint64_t size = fd >= 0 && fstat(fd, &info) == 0 ? (uint64_t)info.st_size : 0;
    if (fd >= 0)
        close(fd);
    return size;
}

/* Returns the size of all perf maps and jitdump files. A step searches the symbols of new JIT code only once, so a
 * growing size may mean missing symbols. */
static uint64_t count_name_bytes(const struct replay *replay)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < replay->processes.length; i++) {
        const struct replay_process *process = &replay->processes.data[i];
        bytes += get_file_size(process_perf_map_open(replay, i));
        bytes += process->jit.dump ? get_file_size(process_jitdump_open_again(replay, i)) : process->jit.dump_lib != 0;
    }
    return bytes;
}

bool live_assembly_is_outdated(const struct live_assembly *live)
{
    return live->assembly.symbolization.jit_unnamed > live->unnamed_at_first &&
           count_name_bytes(&live->assembly.replay) > live->name_bytes_at_first;
}

/* ---- samples ---- */

struct live_extent {
    uint64_t all, settled, last_time;
};

/* Counts the stored samples of a table, and the samples that stay as they are. The last wait may still change. */
static struct live_extent find_extent(struct sample_store *store, uint32_t thread)
{
    struct live_extent extent = {0};
    const struct stored_sample *newest = store ? sample_store_get_newest(store, thread) : NULL;
    if (!newest)
        return extent;
    extent.all = sample_store_count(store, thread);
    extent.settled = extent.all - (newest->kind == STORED_WAIT_END ? 1 : newest->kind == STORED_UNSEEN_END ? 2 : 0);
    extent.last_time = newest->time;
    return extent;
}

static bool ensure_rows(struct live_assembly *live)
{
    size_t events = live->assembly.profile.meta.events.length;
    while (live->threads.length < live->assembly.replay.threads.length) {
        struct live_thread *thread = array_push_zero(&live->threads);
        if (!thread)
            return false;
        thread->samples.state = SAMPLE_ROWS_START;
    }
    for (size_t i = 0; i < live->threads.length; i++)
        while (live->threads.data[i].events.length < events)
            if (!array_push(&live->threads.data[i].events, (struct live_table){.state = SAMPLE_ROWS_START}))
                return false;
    return true;
}

/* The step being written. */
struct live_step {
    struct live_assembly *live;
    struct sample_rows rows;
    struct sample_source source;
    struct byte_sink sink;
};

/* Advances over the final rows, so that the next step starts after them. */
static void skip_final_rows(struct live_step *step, struct live_table *table, uint64_t settled)
{
    struct sample_row row;
    while (step->rows.state.position < settled && sample_rows_next(&step->rows, &row))
        continue;
    table->state = step->rows.state;
}

static int add_table(struct live_step *step, size_t row, int event, struct live_table *table,
                     struct sample_store *store, struct error *err)
{
    const struct assembly *assembly = &step->live->assembly;
    uint32_t number = assembly->order.data[row];
    const struct live_extent extent = find_extent(store, number);
    if (extent.all == 0 || (extent.all == table->sent && extent.last_time == table->sent_time))
        return 0;
    step->rows.start = table->state;
    const struct added_samples added = {.thread = row, .event = event, .first = table->state.row};
    int code = text_append_z(&step->live->text, ",") ? 0 : error_no_memory(err);
    if (!code)
        code = profile_write_added(&assembly->profile, &step->source, &added, assembly_get_time_resolution(assembly),
                                   &step->sink, err);
    if (!code)
        code = step->source.rewind_event && event >= 0
                   ? step->source.rewind_event(step->source.context, row, (size_t)event, err)
                   : step->source.rewind(step->source.context, row, err);
    if (!code)
        skip_final_rows(step, table, extent.settled);
    table->sent = extent.all;
    table->sent_time = extent.last_time;
    return code ? code : step->rows.code;
}

static int add_slices(struct live_step *step, size_t row, struct live_thread *thread, struct error *err)
{
    const struct assembly *assembly = &step->live->assembly;
    uint64_t all = sample_store_count(assembly->replay.samples.slices, assembly->order.data[row]);
    if (all == thread->slices_sent)
        return 0;
    step->rows.start.position = thread->slices_sent;
    int code = text_append_z(&step->live->text, ",") ? 0 : error_no_memory(err);
    if (!code)
        code = profile_write_added_slices(&assembly->profile, &step->source, row, &step->sink, err);
    thread->slices_sent = all;
    return code ? code : step->rows.code;
}

/* ---- added rows ---- */

/* Adds one object with the shared tables, even without new rows: a page needs the row counts. */
static int add_tables(struct live_assembly *live, struct error *err)
{
    struct byte_sink sink = text_sink(&live->text);
    if (!text_append_z(&live->text, ","))
        return error_no_memory(err);
    int code = profile_write_added_tables(&live->assembly.profile, &live->sent, &sink, err);
    live->sent = profile_count_rows(&live->assembly.profile);
    return code;
}

static int add_samples(struct live_assembly *live, struct error *err)
{
    struct assembly *assembly = &live->assembly;
    struct live_step step = {.live = live, .rows = {.assembly = assembly, .err = err}};
    step.source = make_sample_rows_source(&step.rows);
    step.source.has_wakers = replay_get_info_number(&assembly->replay, INFO_WAKERS, 0) != 0;
    step.sink = text_sink(&live->text);
    int code = ensure_rows(live) ? 0 : error_no_memory(err);
    for (size_t i = 0; !code && i < assembly->order.length; i++) {
        struct live_thread *thread = &live->threads.data[assembly->order.data[i]];
        code = add_table(&step, i, -1, &thread->samples, assembly->replay.samples.store, err);
        if (!code)
            code = add_slices(&step, i, thread, err);
        for (size_t k = 0; !code && k < thread->events.length; k++)
            code = add_table(&step, i, (int)k, &thread->events.data[k], assembly->replay.events.data[k].store, err);
    }
    sample_cursor_destroy(&step.rows.cursor);
    return code;
}

static int add_step(struct live_assembly *live, struct error *err)
{
    live->text.length = 0;
    int code = add_tables(live, err);
    if (!code)
        code = add_samples(live, err);
    if (!code && live->fd < 0) {
        live->fd = sample_store_open_file(live->spool_path, err);
        code = live->fd < 0 ? live->fd : 0;
    }
    if (!code && (code = file_write(live->fd, live->text.data, live->text.length)))
        error_set(err, -code, "cannot write a temporary file for the live page: %s", strerror(-code));
    live->added += code ? 0 : live->text.length;
    return code;
}

/* ---- description ---- */

static int rewind_nothing(void *context, size_t thread, struct error *err)
{
    (void)context, (void)thread, (void)err;
    return 0;
}

static bool return_no_row(void *context, struct sample_row *row)
{
    (void)context, (void)row;
    return false;
}

/* Lists the source files of scripts, which the server may send (serve/served_libs.h), in `view`. The caller frees the
 * list. */
static bool list_scripts(struct live_assembly *live, struct profile *view)
{
    const struct profile *profile = &live->assembly.profile;
    memset(&view->sources, 0, sizeof(view->sources));
    while (live->is_in_library.length < profile->sources.length)
        if (!array_push(&live->is_in_library, false))
            return false;
    if (profile->sources.length)
        mark_library_sources(profile, live->known_frames, live->is_in_library.data);
    live->known_frames = profile->frames.length;
    for (size_t i = 0; i < profile->sources.length; i++)
        if (!live->is_in_library.data[i] && !array_push(&view->sources, profile->sources.data[i]))
            return false;
    return true;
}

static int write_description(struct live_assembly *live, int *fd, struct error *err)
{
    const struct assembly *assembly = &live->assembly;
    struct profile view = assembly->profile;
    view.stacks.length = view.frames.length = view.funcs.length = 0;
    view.resources.length = view.native_symbols.length = 0;
    if (!list_scripts(live, &view)) {
        array_free(&view.sources);
        return error_no_memory(err);
    }
    const struct sample_source none = {
        .rewind = rewind_nothing, .next = return_no_row, .has_weight = true, .has_cpu_delta = true, .context = live};
    struct byte_sink sink = text_sink(&live->text);
    live->text.length = 0;
    int code = profile_write(&view, &none, assembly_get_time_resolution(assembly), &sink, err);
    array_free(&view.sources);
    if (code)
        return code;
    *fd = memfd_create("profile", MFD_CLOEXEC);
    if (*fd < 0)
        return error_set(err, errno, "cannot make a file in memory: %s", strerror(errno));
    code = file_write(*fd, live->text.data, live->text.length);
    if (code) {
        close(*fd);
        *fd = -1;
        error_set(err, -code, "cannot write a file in memory: %s", strerror(-code));
    }
    return code;
}

int live_assembly_add_step(struct live_assembly *live, struct assemble_result *result, uint64_t *added,
                           struct error *err)
{
    struct assembly *assembly = &live->assembly;
    uint64_t now = monotonic_ns();
    *result = (struct assemble_result){.memory_fd = -1};
    assembly_remove_description(assembly);
    assembly->trust.is_quick = true;
    int code =
        replay_continue(&assembly->replay, live->spool_path, now > final_after_ns ? now - final_after_ns : 0, err);
    if (!code)
        code = assembly_add_stacks(assembly, live->options, err);
    if (!code)
        code = assembly_describe(assembly, live->options, result, err);
    if (!code)
        code = add_step(live, err);
    if (!code)
        code = write_description(live, &result->memory_fd, err);
    if (code)
        return code;
    assembly_describe_result(assembly, result);
    if (!live->is_begun) {
        live->unnamed_at_first = assembly->symbolization.jit_unnamed;
        live->name_bytes_at_first = count_name_bytes(&assembly->replay);
    }
    live->is_begun = true;
    *added = live->added;
    return 0;
}
