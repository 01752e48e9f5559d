/* perf.data files made by hand: both forms, records out of order, and files that end anywhere. */
#include "perf_data/perf_data.h"

#include "perf_data/perf_data_import.h"
#include "perf_data/perf_data_order.h"
#include "perf_data/perf_data_reason.h"
#include "perf_data/perf_data_record.h"
#include "spool/spool.h"
#include "support/flat_records.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

enum {
    ATTR_SIZE = 112,
    SAMPLE_FIELDS = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU |
                    PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN
};

struct made {
    unsigned char bytes[8192];
    size_t size, record;
};

static void put(struct made *made, const void *bytes, size_t size)
{
    assert_true(made->size + size <= sizeof(made->bytes));
    memcpy(made->bytes + made->size, bytes, size);
    made->size += size;
}

static void put_u64(struct made *made, uint64_t value)
{
    put(made, &value, sizeof(value));
}

static void put_u32s(struct made *made, uint32_t first, uint32_t second)
{
    put(made, &first, sizeof(first));
    put(made, &second, sizeof(second));
}

static void begin_record(struct made *made, uint32_t type, uint16_t misc)
{
    made->record = made->size;
    put_u32s(made, type, misc);
}

static void end_record(struct made *made)
{
    uint16_t size = (uint16_t)(made->size - made->record);
    memcpy(made->bytes + made->record + 6, &size, sizeof(size));
}

static void put_text(struct made *made, const char *text)
{
    char padded[64] = "";
    strncpy(padded, text, sizeof(padded) - 1);
    put(made, padded, (strlen(text) + 8) & ~(size_t)7);
}

/* Of a clock, or of page faults, with the id. */
static void put_attr(struct made *made, bool is_clock)
{
    put_u32s(made, PERF_TYPE_SOFTWARE, ATTR_SIZE);
    put_u64(made, is_clock ? PERF_COUNT_SW_CPU_CLOCK : PERF_COUNT_SW_PAGE_FAULTS);
    put_u64(made, 1000); /* Hz */
    put_u64(made, SAMPLE_FIELDS);
    put_u64(made, 0);
    put_u64(made, 1 << 10 | 1 << 18); /* freq, sample_id_all */
    for (size_t size = 48; size < ATTR_SIZE; size += 8)
        put_u64(made, 0);
}

static void put_trailer(struct made *made, uint32_t pid, uint64_t time, uint64_t id)
{
    put_u32s(made, pid, pid);
    put_u64(made, time);
    put_u32s(made, 0, 0); /* cpu */
    put_u64(made, id);
}

static void put_comm(struct made *made, uint32_t pid, uint64_t time, const char *name)
{
    begin_record(made, PERF_RECORD_COMM, 0);
    put_u32s(made, pid, pid);
    put_text(made, name);
    put_trailer(made, pid, time, 0);
    end_record(made);
}

static void put_sample(struct made *made, uint32_t pid, uint64_t time, uint64_t id, const uint64_t *chain,
                       size_t length)
{
    begin_record(made, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
    put_u64(made, id);
    put_u64(made, chain[1]);
    put_u32s(made, pid, pid);
    put_u64(made, time);
    put_u32s(made, 0, 0);
    put_u64(made, 1000000);
    put_u64(made, length);
    put(made, chain, length * sizeof(*chain));
    end_record(made);
}

static void put_round(struct made *made)
{
    begin_record(made, PERF_DATA_FINISHED_ROUND, 0);
    end_record(made);
}

static const uint64_t chain[] = {(uint64_t)PERF_CONTEXT_USER, 0x401000};

/* The samples of two CPUs, one after the other in each round. */
static void put_records(struct made *made)
{
    put_comm(made, 10, 0, "program");
    put_sample(made, 10, 1000, 1, chain, 2);
    put_sample(made, 10, 3000, 1, chain, 2);
    put_sample(made, 10, 2000, 2, chain, 2);
    put_round(made);
    put_sample(made, 10, 5000, 1, chain, 2);
    put_sample(made, 10, 4000, 2, chain, 2);
    put_round(made);
}

static void make_file(struct made *made)
{
    enum { HEADER = 104, IDS = HEADER, ATTRS = IDS + 16, DATA = ATTRS + 2 * (ATTR_SIZE + 16) };
    memset(made, 0, sizeof(*made));
    put(made, "PERFILE2", 8);
    put_u64(made, HEADER);
    put_u64(made, ATTR_SIZE + 16);
    put_u64(made, ATTRS);
    put_u64(made, 2 * (ATTR_SIZE + 16));
    put_u64(made, DATA);
    put_u64(made, 0); /* the size of the data: below */
    for (size_t i = 0; i < 6; i++)
        put_u64(made, 0);
    put_u64(made, 1);
    put_u64(made, 2);
    for (size_t i = 0; i < 2; i++) {
        put_attr(made, i == 0);
        put_u64(made, IDS + 8 * i);
        put_u64(made, 8);
    }
    assert_int_equal(made->size, DATA);
    put_records(made);
    uint64_t size = made->size - DATA;
    memcpy(made->bytes + 48, &size, sizeof(size));
}

static void make_pipe(struct made *made)
{
    memset(made, 0, sizeof(*made));
    put(made, "PERFILE2", 8);
    put_u64(made, 16);
    for (uint64_t i = 0; i < 2; i++) {
        begin_record(made, PERF_DATA_ATTR, 0);
        put_attr(made, i == 0);
        put_u64(made, i + 1);
        end_record(made);
    }
    put_records(made);
}

/* ---- reading ---- */

struct seen {
    struct perf_data data;
    struct perf_data_order order;
    uint64_t times[16];
    size_t count, samples[2], damaged;
};

static int take(void *context, const unsigned char *bytes, size_t size, uint64_t time)
{
    struct seen *seen = context;
    struct perf_data_record record;
    if (perf_data_record_parse(&seen->data, bytes, size, &record)) {
        seen->damaged++;
        return 0;
    }
    if (record.record.type == PERF_RECORD_SAMPLE)
        seen->samples[record.attr - seen->data.attrs.data]++;
    if (seen->count < 16)
        seen->times[seen->count++] = time;
    return 0;
}

static int order(void *context, const unsigned char *bytes, size_t size, bool lasts)
{
    struct seen *seen = context;
    uint32_t type;
    memcpy(&type, bytes, sizeof(type));
    if (type == PERF_DATA_FINISHED_ROUND)
        return perf_data_order_end_round(&seen->order);
    return type >= PERF_DATA_FIRST_OWN
               ? 0
               : perf_data_order_add(&seen->order, perf_data_record_get_time(&seen->data, bytes, size), bytes, size,
                                     lasts, NULL);
}

static int read_all(struct seen *seen, const unsigned char *bytes, size_t size)
{
    struct error err;
    *seen = (struct seen){.order = {.take = take, .context = seen}};
    int code = perf_data_open(&seen->data, bytes, size, &err);
    if (!code)
        code = perf_data_visit_records(&seen->data, order, seen, &err);
    if (!code)
        code = perf_data_order_finish(&seen->order);
    return code;
}

static void forget(struct seen *seen)
{
    perf_data_order_destroy(&seen->order);
    perf_data_destroy(&seen->data);
}

static void assert_all_in_order(struct made *made)
{
    struct seen seen;
    assert_int_equal(read_all(&seen, made->bytes, made->size), 0);
    assert_int_equal(seen.count, 6);
    for (size_t i = 0; i < seen.count; i++)
        assert_int_equal(seen.times[i], 1000 * i); /* the name of a running process has no time */
    assert_int_equal(seen.samples[0], 3);
    assert_int_equal(seen.samples[1], 2);
    assert_int_equal(seen.order.late, 0);
    assert_false(seen.data.is_truncated);
    forget(&seen);
}

static void test_records_of_a_file_come_in_order(void **unused)
{
    (void)unused;
    struct made made;
    make_file(&made);
    assert_all_in_order(&made);
}

static void test_records_of_a_pipe_come_in_order(void **unused)
{
    (void)unused;
    struct made made;
    make_pipe(&made);
    assert_all_in_order(&made);
}

/* perf writes no ids for a single event, and id 0 for samples of the first one; the second pass finds both known. */
static void test_events_without_ids_have_their_samples(void **unused)
{
    (void)unused;
    for (uint64_t attrs = 1; attrs <= 2; attrs++) {
        struct made made = {0};
        struct seen seen;
        struct error err;
        put(&made, "PERFILE2", 8);
        put_u64(&made, 16);
        for (uint64_t i = 0; i < attrs; i++) {
            begin_record(&made, PERF_DATA_ATTR, 0);
            put_attr(&made, i == 0);
            end_record(&made);
        }
        put_comm(&made, 10, 0, "program");
        for (uint64_t i = 1; i <= 3; i++)
            put_sample(&made, 10, 1000 * i, attrs == 1 ? 7 : 0, chain, 2);
        assert_int_equal(read_all(&seen, made.bytes, made.size), 0);
        assert_int_equal(perf_data_visit_records(&seen.data, order, &seen, &err), 0);
        assert_int_equal(perf_data_order_finish(&seen.order), 0);
        assert_int_equal(seen.data.attrs.length, attrs);
        assert_int_equal(seen.samples[0], 6);
        assert_int_equal(seen.damaged, 0);
        forget(&seen);
    }
}

/* As of `perf record --threads`: the records of the file, and in a part the same again, but for its last bytes. */
static void read_directory(struct seen *seen, const struct made *made, size_t missing)
{
    struct error err;
    *seen = (struct seen){.order = {.take = take, .context = seen}};
    perf_data_order_set_unlimited(&seen->order);
    assert_int_equal(perf_data_open(&seen->data, made->bytes, made->size, &err), 0);
    size_t start = seen->data.data_start, size = seen->data.data_end - start - missing;
    unsigned char *part = malloc(size);
    assert_non_null(part);
    memcpy(part, made->bytes + start, size);
    assert_true(perf_data_add_part(&seen->data, part, size));
    assert_int_equal(perf_data_visit_records(&seen->data, order, seen, &err), 0);
    assert_int_equal(perf_data_order_finish(&seen->order), 0);
    free(part);
}

static void test_records_of_a_directory_are_those_of_all_its_files(void **unused)
{
    (void)unused;
    struct made made;
    struct seen seen;
    make_file(&made);
    read_directory(&seen, &made, 0);
    assert_int_equal(seen.samples[0], 6);
    assert_int_equal(seen.samples[1], 4);
    assert_false(seen.data.is_truncated);
    forget(&seen);
    read_directory(&seen, &made, 3);
    assert_true(seen.data.is_truncated);
    forget(&seen);
}

/* Each in memory that ends where the file does, so that the sanitizer sees a read past it. */
static void test_a_file_may_end_anywhere(void **unused)
{
    (void)unused;
    for (int form = 0; form < 2; form++) {
        struct made made;
        (form ? make_pipe : make_file)(&made);
        for (size_t size = 0; size < made.size; size++) {
            struct seen seen;
            unsigned char *exact = malloc(size ? size : 1);
            assert_non_null(exact);
            memcpy(exact, made.bytes, size);
            if (read_all(&seen, exact, size) == 0)
                assert_true(seen.count <= 6);
            forget(&seen);
            free(exact);
        }
    }
}

static void test_a_changed_byte_is_no_crash(void **unused)
{
    (void)unused;
    struct made made;
    make_file(&made);
    for (size_t i = 0; i < made.size; i++) {
        static const unsigned char values[] = {0, 1, 0x7f, 0xff};
        for (size_t v = 0; v < sizeof(values); v++) {
            struct seen seen;
            unsigned char before = made.bytes[i];
            made.bytes[i] = values[v];
            read_all(&seen, made.bytes, made.size);
            forget(&seen);
            made.bytes[i] = before;
        }
    }
}

static void test_what_waits_is_bounded(void **unused)
{
    (void)unused;
    struct made made = {.size = 0};
    struct seen seen = {.order = {.take = take, .context = &seen, .records_max = 2}};
    put_comm(&made, 1, 1, "x");
    for (uint64_t time = 10; time >= 7; time--)
        assert_int_equal(perf_data_order_add(&seen.order, time, made.bytes, made.size, false, NULL), 0);
    assert_int_equal(seen.order.heap.length, 2);
    assert_int_equal(perf_data_order_finish(&seen.order), 0);
    assert_int_equal(seen.order.late, 1);
    assert_int_equal(seen.order.copied, 0);
    static const uint64_t times[] = {8, 8, 9, 10}; /* that of 7 came too late */
    assert_memory_equal(seen.times, times, sizeof(times));
    perf_data_order_destroy(&seen.order);
}

/* ---- sentences ---- */

static void assert_refused(const void *bytes, size_t size, const char *part)
{
    struct perf_data data;
    struct error err;
    assert_int_equal(perf_data_open(&data, bytes, size, &err), -EINVAL);
    assert_non_null(strstr(err.text, part));
    perf_data_destroy(&data);
}

static void test_other_files_are_refused(void **unused)
{
    (void)unused;
    assert_refused("2ELIFREP", 8, "byte order");
    assert_refused("PERFFILE", 8, "before 3.0");
    assert_refused("PERFILE2", 8, "damaged");
    assert_refused("PERFILE", 7, "is not");
    assert_true(perf_data_recognize((const unsigned char *)"2ELIFREP", 8));
    assert_false(perf_data_recognize((const unsigned char *)"PERFILE", 7));
}

/* ---- tracepoints ---- */

static void put_sized(struct made *made, const char *text)
{
    put_u64(made, strlen(text));
    put(made, text, strlen(text));
}

static void make_tracing(struct made *made)
{
    static const char format[] = "name: sched_switch\nID: 316\nformat:\n"
                                 "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n"
                                 "\tfield:char prev_comm[8];\toffset:8;\tsize:8;\tsigned:0;\n"
                                 "\tfield:pid_t prev_pid;\toffset:16;\tsize:4;\tsigned:1;\n"
                                 "\tfield:__data_loc char[] file;\toffset:20;\tsize:4;\tsigned:0;\n"
                                 "\tfield:const char * where;\toffset:24;\tsize:8;\tsigned:0;\n"
                                 "\nprint fmt: \"%s\", REC->prev_comm\n";
    memset(made, 0, sizeof(*made));
    put(made, "\x17\x08\x44tracing0.6", 14);
    put(made, "\0\10\0\20\0", 6); /* byte order, long, page size */
    put(made, "header_page", 12);
    put_sized(made, "page");
    put(made, "header_event", 13);
    put_sized(made, "event");
    put(made, "\0\0\0", 4);
    put(made, "\1\0\0", 4);
    put(made, "sched", 6);
    put(made, "\1\0\0", 4);
    put_sized(made, format);
}

static void test_kernel_functions_tell_the_reason(void **unused)
{
    (void)unused;
    static const struct {
        const char *name;
        enum wait_reason reason;
    } cases[] = {
        {"__futex_wait", REASON_LOCK},
        {"do_nanosleep", REASON_SLEEP},
        {"__do_wait", REASON_CHILD},
        {"do_wait_for_common", REASON_UNKNOWN},
        {"anon_pipe_read", REASON_PIPE},
        {"do_poll.constprop.0", REASON_NETWORK},
        {"io_schedule", REASON_DISK},
        {"asm_exc_page_fault", REASON_PAGE_FAULT},
        {"__schedule", REASON_UNKNOWN},
        {"schedule_timeout", REASON_UNKNOWN},
        {"unix_stream_read_generic", REASON_NETWORK},
        {"", REASON_UNKNOWN},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        assert_int_equal(perf_data_find_reason_of_function(cases[i].name), cases[i].reason);
}

static void test_fields_of_a_tracepoint_are_told(void **unused)
{
    (void)unused;
    struct made made;
    struct perf_data_tracing tracing = {0};
    char text[256], raw[] = "\0\0\0\0\0\0\0\0busy\0\0\0\0\xff\xff\xff\xff\x20\0\5\0\x10\0\0\0\0\0\0\0/bin";
    make_tracing(&made);
    assert_true(perf_data_tracing_read(&tracing, made.bytes, made.size));
    perf_data_tracing_write_text(&tracing, 316, raw, sizeof(raw), text, sizeof(text));
    assert_string_equal(text, "prev_comm=busy prev_pid=-1 file=/bin where=0x10");
    perf_data_tracing_write_text(&tracing, 316, raw, 20, text, sizeof(text)); /* some fields are missing */
    assert_string_equal(text, "prev_comm=busy prev_pid=-1");
    perf_data_tracing_write_text(&tracing, 316, raw, sizeof(raw), text, 12);
    assert_string_equal(text, "prev_comm=b");
    perf_data_tracing_write_text(&tracing, 317, raw, sizeof(raw), text, sizeof(text));
    assert_string_equal(text, "");
    uint64_t number = 0;
    assert_true(perf_data_tracing_read_number(&tracing, 316, raw, sizeof(raw), "prev_pid", &number));
    assert_int_equal((int64_t)number, -1);
    assert_true(perf_data_tracing_read_number(&tracing, 316, raw, sizeof(raw), "where", &number));
    assert_int_equal(number, 16);
    assert_false(perf_data_tracing_read_number(&tracing, 316, raw, sizeof(raw), "prev_comm", &number)); /* a text */
    assert_false(perf_data_tracing_read_number(&tracing, 316, raw, 14, "prev_pid", &number));
    assert_false(perf_data_tracing_read_number(&tracing, 316, raw, sizeof(raw), "next_pid", &number));
    assert_false(perf_data_tracing_read_number(&tracing, 317, raw, sizeof(raw), "prev_pid", &number));
    perf_data_tracing_destroy(&tracing);
    for (size_t size = 0; size < made.size; size++) {
        struct perf_data_tracing cut = {0};
        unsigned char *exact = malloc(size ? size : 1);
        assert_non_null(exact);
        memcpy(exact, made.bytes, size);
        assert_true(perf_data_tracing_read(&cut, exact, size));
        perf_data_tracing_write_text(&cut, 316, raw, sizeof(raw), text, sizeof(text));
        perf_data_tracing_destroy(&cut);
        free(exact);
    }
}

static void put_words(struct made *made, const char *line)
{
    char text[256], *rest = text;
    uint32_t count = 1;
    snprintf(text, sizeof(text), "%s", line);
    for (const char *at = text; *at; at++)
        count += *at == ' ';
    put(made, &count, sizeof(count));
    for (const char *word; (word = strsep(&rest, " "));) {
        uint32_t size = (uint32_t)strlen(word) + 9; /* perf pads */
        put(made, &size, sizeof(size));
        put(made, word, strlen(word));
        put(made, "\0\0\0\0\0\0\0\0", 9);
    }
}

static void test_the_program_is_found_in_the_command_line_of_perf(void **unused)
{
    static const struct {
        const char *line, *options, *target, *program;
    } cases[] = {
        {"perf record -g -F 99 make -j8", "perf record -g -F 99", "make -j8", "make"},
        {"/usr/bin/perf record -agF99 -e cycles:u -o x -- /bin/ls -la", "/usr/bin/perf record -agF99 -e cycles:u -o x",
         "/bin/ls -la", "ls"},
        {"perf record --call-graph dwarf --freq=99 -z --pid 7 --all-cpus", NULL, NULL, ""},
        {"perf record --call-graph dwarf -z=3 it's", "perf record --call-graph dwarf -z=3", "'it'\\''s'", "it's"},
        {"perf --debug x record -p", "perf --debug x record -p", NULL, ""},
        {"perf sched", "perf sched", NULL, ""},
    };
    (void)unused;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct made made = {.size = 0};
        struct perf_data_command command = {0};
        put_words(&made, cases[i].line);
        assert_int_equal(perf_data_command_read(&command, cursor_of(made.bytes, made.size), NULL), 0);
        assert_string_equal(command.options, cases[i].options ? cases[i].options : cases[i].line);
        assert_true(!command.target == !cases[i].target);
        if (command.target)
            assert_string_equal(command.target, cases[i].target);
        assert_string_equal(command.program, cases[i].program);
        for (size_t size = 0; size < made.size; size++)
            assert_int_equal(perf_data_command_read(&command, cursor_of(made.bytes, size), NULL), 0);
        perf_data_command_destroy(&command);
    }
}

/* ---- importing ---- */

/* The event of the first attribute becomes cycles, which a processor of this machine need not count. */
static void make_cycles(struct made *made)
{
    const uint32_t type = PERF_TYPE_HARDWARE;
    const uint64_t config = PERF_COUNT_HW_CPU_CYCLES;
    uint64_t attrs;
    memcpy(&attrs, made->bytes + 24, sizeof(attrs));
    memcpy(made->bytes + attrs, &type, sizeof(type));
    memcpy(made->bytes + attrs + 8, &config, sizeof(config));
}

static void check_import(bool is_cycles)
{
    char directory[] = "/tmp/prof-test-XXXXXX", file[64], spool[64];
    struct made made;
    struct perf_data_result result;
    struct error err;
    assert_non_null(mkdtemp(directory));
    snprintf(file, sizeof(file), "%s/perf.data", directory);
    snprintf(spool, sizeof(spool), "%s/spool", directory);
    make_file(&made);
    if (is_cycles)
        make_cycles(&made);
    int fd = open(file, O_WRONLY | O_CREAT | O_EXCL, 0600);
    assert_int_equal(write(fd, made.bytes, made.size), (ssize_t)made.size);
    close(fd);
    assert_int_equal(perf_data_detect_form(file), PERF_DATA_FILE);
    assert_int_equal(perf_data_import(file, "the file", NULL, spool, &result, &err), 0);
    assert_int_equal(result.samples, 3);
    assert_int_equal(result.events, 2);

    struct spool_reader *reader;
    struct spool_event event;
    struct sample sample;
    size_t samples = 0, of_events = 0;
    bool has_process = false;
    assert_int_equal(spool_reader_open(&reader, spool, &err), 0);
    for (int item; (item = spool_reader_next(reader, &event, &sample, &err)) > 0;) {
        if (item == SPOOL_ITEM_SAMPLE) {
            samples++;
            of_events += sample.event == 1;
            assert_int_equal(sample.frame_count, 1);
            assert_int_equal(sample.frames[0], 0x401000);
            assert_int_equal(sample.cpu_time, sample.event ? 0 : 1000000);
        } else if (event.kind == SPOOL_PROCESS) {
            has_process = true;
            assert_string_equal(event.name, "program");
            assert_int_equal(event.pid, 10);
        }
    }
    spool_reader_close(reader);
    assert_true(has_process);
    assert_int_equal(samples, is_cycles ? 8 : 5);
    assert_int_equal(of_events, is_cycles ? 3 : 2);
    unlink(spool);
    unlink(file);
    rmdir(directory);
}

static void test_import_writes_a_recording(void **unused)
{
    (void)unused;
    check_import(false);
}

static void test_cycles_are_samples_and_an_event(void **unused)
{
    (void)unused;
    check_import(true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_records_of_a_file_come_in_order),
        cmocka_unit_test(test_records_of_a_pipe_come_in_order),
        cmocka_unit_test(test_events_without_ids_have_their_samples),
        cmocka_unit_test(test_the_program_is_found_in_the_command_line_of_perf),
        cmocka_unit_test(test_records_of_a_directory_are_those_of_all_its_files),
        cmocka_unit_test(test_a_file_may_end_anywhere),
        cmocka_unit_test(test_a_changed_byte_is_no_crash),
        cmocka_unit_test(test_what_waits_is_bounded),
        cmocka_unit_test(test_other_files_are_refused),
        cmocka_unit_test(test_kernel_functions_tell_the_reason),
        cmocka_unit_test(test_fields_of_a_tracepoint_are_told),
        cmocka_unit_test(test_import_writes_a_recording),
        cmocka_unit_test(test_cycles_are_samples_and_an_event),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
