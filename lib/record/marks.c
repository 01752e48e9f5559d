#include "record/marks.h"

#include "os/clock.h"

bool marks_may_be_in_file(const char *path)
{
    uint32_t tid;
    return mark_buffers_is_buffer(path) || mark_files_is_marker_file(path, &tid);
}

int marks_open_mapping(struct marks *marks, uint32_t pid, const struct perf_mapping *mapping, struct error *err)
{
    if (mapping->path[0] != '/')
        return 0;
    if (mark_buffers_is_buffer(mapping->path))
        return mark_buffers_open_mapping(&marks->buffers, pid, mapping, marks->started, err);
    return mark_files_open_mapping(&marks->files, pid, mapping, err);
}

static bool was_paused(const void *context, uint64_t time)
{
    return pauses_include(context, time);
}

void marks_init(struct marks *marks, struct spool_writer *spool, struct tracker *tracker, const struct pauses *pauses,
                uint64_t started)
{
    marks->writer.spool = spool;
    marks->tracker = tracker;
    marks->pauses = pauses;
    marks->started = started;
}

static int read_marks(struct marks *marks, uint64_t now, bool is_end, struct error *err)
{
    const struct mark_source source = {
        .writer = &marks->writer, .tracker = marks->tracker, .is_time_excluded = was_paused, .context = marks->pauses};
    int code = mark_buffers_read(&marks->buffers, &source, now, is_end, err);
    return code ? code : mark_files_read(&marks->files, &marks->writer, marks->started, now, is_end, err);
}

static uint64_t get_next_deadline(const void *self)
{
    return mark_buffers_get_deadline(&((const struct marks *)self)->buffers);
}

static int run_marks(void *self, uint64_t now, struct error *err)
{
    return read_marks(self, now, false, err);
}

static int finish_marks(void *self, uint64_t stopped, struct error *err)
{
    (void)stopped;
    return read_marks(self, monotonic_ns(), true, err);
}

struct producer marks_as_producer(struct marks *marks)
{
    return (struct producer){
        .self = marks, .work = "Read marks", .deadline = get_next_deadline, .run = run_marks, .finish = finish_marks};
}

static void add_count_note(struct record_result *result, uint64_t count, const char *what)
{
    if (count)
        record_result_add_note(result, "%s: %" PRIu64, what, count);
}

void marks_add_notes(const struct marks *marks, struct record_result *result)
{
    add_count_note(result, marks->buffers.lost, "marks lost, because programs wrote marks faster than prof read them");
    add_count_note(result, marks->writer.dropped, "marks lost, because a recording has at most 5 million marks");
    add_count_note(result, marks->buffers.damaged, "buffers of marks that their programs overwrote");
    add_count_note(result, marks->buffers.unopened, "buffers of marks that prof could not open");
    add_count_note(result, marks->files.unopened, "marker files that prof could not open");
    add_count_note(result, marks->files.too_long, "marker files of which prof read only the first 256 MiB");
    if (marks->files.bad_lines)
        record_result_add_note(
            result, "prof skipped %llu line%s of marker files without the form 'START END NAME'; the first is %s",
            (unsigned long long)marks->files.bad_lines, marks->files.bad_lines == 1 ? "" : "s", marks->files.bad);
    if (marks->files.future_lines)
        record_result_add_note(
            result,
            "prof skipped %llu marker%s of marker files with an end in the future (times are nanoseconds of CLOCK_MONOTONIC); the first is %s",
            (unsigned long long)marks->files.future_lines, marks->files.future_lines == 1 ? "" : "s",
            marks->files.future);
}

void marks_destroy(struct marks *marks)
{
    mark_buffers_destroy(&marks->buffers);
    mark_files_destroy(&marks->files);
    mark_writer_destroy(&marks->writer);
}
