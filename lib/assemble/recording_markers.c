#include "assemble/recording_markers.h"

/* Marker schemas as JSON text, because the tables of a profile store a schema as text. The timeline shows only markers
 * whose schema has a place in the timeline. */
#define IN_CHART    "\"display\":[\"marker-chart\",\"marker-table\"]"
#define IN_OVERVIEW "\"display\":[\"marker-chart\",\"marker-table\",\"timeline-overview\"]"
const char recording_marker_schema[] =
    "[{\"name\":\"SamplesLost\"," IN_OVERVIEW ","
    "\"tooltipLabel\":\"{marker.data.samples} samples lost\",\"chartLabel\":\"{marker.data.samples}\","
    "\"tableLabel\":\"{marker.data.samples} samples, CPU {marker.data.cpu}\","
    "\"description\":\"The buffer of this CPU was full: threads on this CPU have too few samples here.\","
    "\"fields\":[{\"key\":\"samples\",\"label\":\"Samples\",\"format\":\"integer\"},"
    "{\"key\":\"cpu\",\"label\":\"CPU\",\"format\":\"string\"}]},"
    "{\"name\":\"RecordingPaused\"," IN_OVERVIEW ",\"description\":\"Nothing was recorded.\",\"fields\":[]},"
    "{\"name\":\"Mark\"," IN_OVERVIEW ",\"tooltipLabel\":\"{marker.data.text}\","
    "\"tableLabel\":\"{marker.data.text}\",\"chartLabel\":\"{marker.data.text}\","
    "\"fields\":[{\"key\":\"text\",\"label\":\"Text\",\"format\":\"string\"}]},"
    "{\"name\":\"Run\"," IN_CHART ",\"tooltipLabel\":\"Run {marker.data.number}\","
    "\"tableLabel\":\"{marker.data.number}\",\"chartLabel\":\"{marker.data.number}\","
    "\"fields\":[{\"key\":\"number\",\"label\":\"Number\",\"format\":\"integer\"}]},"
    "{\"name\":\"ProgramMark\"," IN_OVERVIEW ",\"tableLabel\":\"{marker.data.text}\","
    "\"chartLabel\":\"{marker.data.text}\",\"description\":\"The program marked this itself.\","
    "\"fields\":[{\"key\":\"text\",\"label\":\"Text\",\"format\":\"string\"}]},"
    "{\"name\":\"MarksLost\"," IN_OVERVIEW ",\"tooltipLabel\":\"{marker.data.marks} marks lost\","
    "\"chartLabel\":\"{marker.data.marks}\",\"tableLabel\":\"{marker.data.marks} marks, process {marker.data.pid}\","
    "\"description\":\"The program wrote marks faster than prof read them.\","
    "\"fields\":[{\"key\":\"marks\",\"label\":\"Marks\",\"format\":\"integer\"},"
    "{\"key\":\"pid\",\"label\":\"Process\",\"format\":\"string\"}]},"
    "{\"name\":\"RecorderWork\"," IN_CHART ",\"tableLabel\":\"{marker.data.work}\","
    "\"chartLabel\":\"{marker.data.work}\",\"description\":\"prof itself was busy.\","
    "\"fields\":[{\"key\":\"work\",\"label\":\"Work\",\"format\":\"string\"}]},"
    "{\"name\":\"Process\"," IN_CHART ",\"tooltipLabel\":\"{marker.data.process} ({marker.data.pid})\","
    "\"tableLabel\":\"{marker.data.process} ({marker.data.pid}) {marker.data.end}\","
    "\"chartLabel\":\"{marker.data.process} ({marker.data.pid})\","
    "\"fields\":[{\"key\":\"process\",\"label\":\"Name\",\"format\":\"string\"},"
    "{\"key\":\"pid\",\"label\":\"PID\",\"format\":\"string\"},"
    "{\"key\":\"parent\",\"label\":\"Parent PID\",\"format\":\"string\"},"
    "{\"key\":\"end\",\"label\":\"Exit status\",\"format\":\"string\"}]},"
    "{\"name\":\"Exec\"," IN_CHART ",\"tooltipLabel\":\"{marker.data.command}\","
    "\"tableLabel\":\"{marker.data.command}\",\"chartLabel\":\"{marker.data.command}\","
    "\"fields\":[{\"key\":\"command\",\"label\":\"Command\",\"format\":\"string\"},"
    "{\"key\":\"pid\",\"label\":\"PID\",\"format\":\"string\"}]},"
    "{\"name\":\"Thread\"," IN_CHART ",\"tooltipLabel\":\"{marker.data.thread} ({marker.data.tid})\","
    "\"tableLabel\":\"{marker.data.thread} ({marker.data.tid})\","
    "\"chartLabel\":\"{marker.data.thread} ({marker.data.tid})\","
    "\"fields\":[{\"key\":\"thread\",\"label\":\"Name\",\"format\":\"string\"},"
    "{\"key\":\"tid\",\"label\":\"TID\",\"format\":\"string\"}]},"
    "{\"name\":\"LibraryLoad\"," IN_CHART ",\"tooltipLabel\":\"{marker.data.library}\","
    "\"tableLabel\":\"{marker.data.library} ({marker.data.size})\",\"chartLabel\":\"{marker.data.library}\","
    "\"fields\":[{\"key\":\"library\",\"label\":\"File\",\"format\":\"file-path\"},"
    "{\"key\":\"size\",\"label\":\"Size\",\"format\":\"bytes\"}]},"
    "{\"name\":\"Signal\"," IN_CHART ",\"tooltipLabel\":\"{marker.data.signal}\","
    "\"tableLabel\":\"{marker.data.signal} {marker.data.sender} {marker.data.effect}\","
    "\"chartLabel\":\"{marker.data.signal}\",\"description\":\"The signal reached this thread.\","
    "\"fields\":[{\"key\":\"signal\",\"label\":\"Signal\",\"format\":\"string\"},"
    "{\"key\":\"tid\",\"label\":\"TID\",\"format\":\"string\"},"
    "{\"key\":\"pid\",\"label\":\"PID\",\"format\":\"string\"},"
    "{\"key\":\"sender\",\"label\":\"Sent by\",\"format\":\"string\"},"
    "{\"key\":\"effect\",\"label\":\"Effect\",\"format\":\"string\"}]},"
    "{\"name\":\"OomKill\"," IN_OVERVIEW ",\"tooltipLabel\":\"{marker.data.process} ({marker.data.pid})\","
    "\"tableLabel\":\"{marker.data.process} ({marker.data.pid}) killed\",\"chartLabel\":\"{marker.data.process}\","
    "\"description\":\"SIGKILL ended this process, and the kernel's count of processes that it kills for lack of "
    "memory had risen.\","
    "\"fields\":[{\"key\":\"process\",\"label\":\"Name\",\"format\":\"string\"},"
    "{\"key\":\"pid\",\"label\":\"PID\",\"format\":\"string\"},"
    "{\"key\":\"kills\",\"label\":\"Kills counted\",\"format\":\"integer\"}]},"
    "{\"name\":\"MemoryGrowth\"," IN_CHART ",\"tooltipLabel\":\"Memory growth: {marker.data.growth}\","
    "\"tableLabel\":\"by {marker.data.growth} to {marker.data.resident}\",\"chartLabel\":\"{marker.data.growth}\","
    "\"description\":\"The resident memory of the process grew this much without a pause.\","
    "\"fields\":[{\"key\":\"growth\",\"label\":\"Growth\",\"format\":\"bytes\"},"
    "{\"key\":\"resident\",\"label\":\"Resident at its end\",\"format\":\"bytes\"}]},"
    "{\"name\":\"MajorFaults\"," IN_CHART ",\"tooltipLabel\":\"{marker.data.faults} major page faults\","
    "\"tableLabel\":\"{marker.data.faults}\",\"chartLabel\":\"{marker.data.faults}\","
    "\"description\":\"Page faults that waited for a disk, without a pause between them.\","
    "\"fields\":[{\"key\":\"faults\",\"label\":\"Faults\",\"format\":\"integer\"}]}]";

static const char *const types[] = {[REPLAY_MARK_LOST] = "SamplesLost",
                                    [REPLAY_MARK_PAUSED] = "RecordingPaused",
                                    [REPLAY_MARK_USER] = "Mark",
                                    [REPLAY_MARK_RUN] = "Run"};
static const char *const names[] = {[REPLAY_MARK_LOST] = "Samples lost",
                                    [REPLAY_MARK_PAUSED] = "Recording paused",
                                    [REPLAY_MARK_USER] = "Mark",
                                    [REPLAY_MARK_RUN] = "Run"};

static void write_number_text(struct json_writer *json, const char *key, uint32_t number)
{
    char text[16];
    snprintf(text, sizeof(text), "%" PRIu32, number);
    json_member_text(json, key, number == SPOOL_NO_NUMBER ? "unknown" : text);
}

static void write_fields(struct json_writer *json, const struct replay_mark *mark, const struct strings *texts)
{
    if (mark->kind == REPLAY_MARK_LOST) {
        json_member_unsigned(json, "samples", mark->count);
        write_number_text(json, "cpu", mark->cpu);
    }
    if (mark->kind == REPLAY_MARK_USER)
        json_member_text(json, "text", strings_text(texts, mark->text));
    if (mark->kind == REPLAY_MARK_RUN)
        json_member_unsigned(json, "number", mark->count);
}

/* Adds an interval, or an instant if start and end are equal. Uses the started payload. */
static void add_row(struct marker_rows *rows, const char *name, uint64_t start, uint64_t end)
{
    uint32_t text = strings_add_z(&rows->profile->strings, name);
    marker_rows_add(rows, 0, text, profile_find_default_category(rows->profile),
                    end > start ? PHASE_INTERVAL : PHASE_INSTANT, start, end);
}

static bool add_pause(struct marker_rows *rows, const struct replay_mark *mark)
{
    struct profile *profile = rows->profile;
    uint32_t reason = strings_add_z(&profile->strings, "profiler-paused");
    struct paused_range range = {marker_rows_convert_to_ms(rows, mark->start),
                                 marker_rows_convert_to_ms(rows, mark->end ? mark->end : rows->end_ns), reason};
    for (size_t k = 0; k < profile->threads.length; k++)
        if (range.start < range.end && !array_push(&profile->threads.data[k].paused, range))
            return false;
    return reason != STRING_NONE;
}

void recording_markers_add(struct marker_rows *rows, const struct replay_marks *marks,
                           const struct program_marks *programs)
{
    for (size_t i = 0; i < marks->items.length && !rows->failed; i++) {
        const struct replay_mark *mark = &marks->items.data[i];
        struct json_writer *json = marker_rows_start_payload(rows, types[mark->kind]);
        if (!json)
            return;
        write_fields(json, mark, &marks->texts);
        add_row(rows, names[mark->kind], mark->start, mark->end ? mark->end : rows->end_ns);
        if (mark->kind == REPLAY_MARK_PAUSED && !add_pause(rows, mark))
            rows->failed = true;
    }
    for (size_t i = 0; i < programs->lost.length && !rows->failed; i++) {
        const struct lost_marks *lost = &programs->lost.data[i];
        struct json_writer *json = marker_rows_start_payload(rows, "MarksLost");
        if (!json)
            return;
        json_member_unsigned(json, "marks", lost->count);
        write_number_text(json, "pid", lost->pid);
        add_row(rows, "Marks lost", lost->start, lost->end);
    }
    for (size_t i = 0; i < programs->works.length && !rows->failed; i++) {
        const struct work_time *work = &programs->works.data[i];
        struct json_writer *json = marker_rows_start_payload(rows, "RecorderWork");
        if (!json)
            return;
        json_member_text(json, "work", strings_text(&programs->texts, work->name));
        add_row(rows, "Recorder", work->start, work->end);
    }
}
