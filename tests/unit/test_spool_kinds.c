/* Each record kind of the spool file is written and read back, in the bytes of its version, and is in the dump. */
#include "spool/block_file.h"
#include "spool/spool_dump.h"
#include "spool/spool_event.h"
#include "spool/spool_format.h"
#include "support/directory.h"
#include "unit/every_kind.h"

#include "base/text_buffer.h"

#include <unistd.h>

static char path[64];

static int make_directory(void **unused)
{
    snprintf(path, sizeof(path), "%s/spool", make_empty_directory(unused) == 0 ? directory : "");
    return 0;
}

static void write_file(void)
{
    struct spool_writer *writer;
    unlink(path);
    assert_int_equal(spool_writer_new(&writer, path, NULL), 0);
    assert_int_equal(write_every_kind(writer), 0);
    assert_int_equal(spool_writer_close(writer, NULL), 0);
}

static struct text_buffer read_file(const char *name)
{
    struct text_buffer text = {0};
    char part[4096];
    FILE *file = fopen(name, "r");
    assert_non_null(file);
    for (size_t got; (got = fread(part, 1, sizeof(part), file)) > 0;)
        assert_true(text_append(&text, part, got));
    fclose(file);
    return text;
}

static void assert_equal_text(const struct text_buffer *got, const struct text_buffer *wanted)
{
    assert_int_equal(got->length, wanted->length);
    assert_memory_equal(got->data, wanted->data, wanted->length);
}

/* ---- fields ---- */

static void assert_equal_bytes(const void *a, const void *b)
{
    const unsigned char *const *left = a, *const *right = b;
    size_t size = *(const size_t *)(left + 1);
    assert_int_equal(*(const size_t *)(right + 1), size);
    if (size)
        assert_memory_equal(*left, *right, size);
}

static void assert_equal_field(const struct spool_field *field, const void *a, const void *b)
{
    const char *left = (const char *)a + field->offset, *right = (const char *)b + field->offset;
    static const size_t sizes[] = {[SPOOL_STORES_BOOL] = sizeof(bool), [SPOOL_STORES_U32] = 4, [SPOOL_STORES_U64] = 8};
    if (field->storage == SPOOL_STORES_TEXT)
        assert_string_equal(*(const char *const *)left, *(const char *const *)right);
    else if (field->storage == SPOOL_STORES_BYTES)
        assert_equal_bytes(left, right);
    else if (field->storage != SPOOL_STORES_U64S)
        assert_memory_equal(left, right, sizes[field->storage]);
}

static void assert_equal_record(const struct spool_kind *kind, const void *a, const void *b, uint32_t mark)
{
    for (const struct spool_field *field = kind->fields; field->name; field++)
        if (spool_field_is_in(field, mark))
            assert_equal_field(field, a, b);
}

static void take_event(const struct spool_event *event, size_t number, bool seen[SPOOL_EVENT_KINDS])
{
    assert_true(number < EVERY_EVENT);
    assert_int_equal(event->kind, every_event[number].kind);
    assert_equal_record(spool_event_kind_of(event->kind), event, &every_event[number], event->mark);
    seen[event->kind] = true;
}

static void take_sample(const struct sample *sample, size_t number)
{
    static const enum spool_sample_kind kinds[EVERY_SAMPLE] = {SPOOL_SAMPLE_CPU, SPOOL_SAMPLE_WAIT, SPOOL_SAMPLE_EVENT};
    uint64_t values[CHUNK_MAX_FRAMES];
    struct counter_reading reading;
    if (number < EVERY_SAMPLE) {
        const struct sample *wanted = &every_sample[number];
        assert_equal_record(&spool_sample_kinds[kinds[number]], sample, wanted, 0);
        assert_int_equal(sample->frame_count, wanted->frame_count);
        if (wanted->frame_count)
            assert_memory_equal(sample->frames, wanted->frames, wanted->frame_count * sizeof(uint64_t));
        return;
    }
    assert_true(number < EVERY_SAMPLE + EVERY_READING);
    const struct counter_reading *wanted = &every_reading[number - EVERY_SAMPLE];
    assert_true(counter_reading_of(sample, values, &reading));
    assert_equal_record(&spool_sample_kinds[SPOOL_SAMPLE_COUNTERS], &reading, wanted, 0);
    assert_int_equal(reading.count, wanted->count);
    assert_memory_equal(reading.values, wanted->values, wanted->count * sizeof(uint64_t));
}

/* ---- tests ---- */

static void test_a_record_of_each_kind_comes_back_with_all_fields(void **unused)
{
    (void)unused;
    struct spool_reader *reader;
    struct spool_event event;
    struct sample sample;
    bool seen[SPOOL_EVENT_KINDS] = {false};
    size_t events = 0, samples = 0;
    int item;
    write_file();
    assert_int_equal(spool_reader_open(&reader, path, NULL), 0);
    while ((item = spool_reader_next(reader, &event, &sample, NULL)) > 0) {
        if (item == SPOOL_ITEM_EVENT)
            take_event(&event, events++, seen);
        else
            take_sample(&sample, samples++);
    }
    assert_int_equal(item, SPOOL_END);
    assert_int_equal(spool_reader_damaged(reader), 0);
    spool_reader_close(reader);
    assert_int_equal(events, EVERY_EVENT);
    assert_int_equal(samples, EVERY_SAMPLE + EVERY_READING);
    for (uint32_t kind = 0; kind < SPOOL_EVENT_KINDS; kind++)
        assert_int_equal(seen[kind], spool_event_kind_of(kind) != NULL);
}

/* The file is from before the table of record_kinds.h. If this test fails, the format has changed: raise its version.
 */
static void test_the_bytes_of_a_version_stay(void **unused)
{
    (void)unused;
    write_file();
    struct text_buffer got = read_file(path), wanted = read_file("tests/fuzz/corpus/spool/every_kind");
    assert_equal_text(&got, &wanted);
    array_free(&got);
    array_free(&wanted);
}

static void test_the_dump_has_each_field_by_its_name(void **unused)
{
    (void)unused;
    static struct json_writer json;
    struct text_buffer got = {0}, wanted = read_file("tests/data/every_kind.jsonl");
    struct byte_sink sink = text_sink(&got);
    struct spool_reader *reader;
    struct spool_event event;
    struct sample sample;
    int item;
    write_file();
    json_writer_init(&json, &sink, NULL);
    assert_int_equal(spool_reader_open(&reader, path, NULL), 0);
    while ((item = spool_reader_next(reader, &event, &sample, NULL)) > 0) {
        if (item == SPOOL_ITEM_EVENT)
            spool_dump_event(&json, &event);
        else
            spool_dump_sample(&json, &sample);
        json.separator = false;
        json_raw(&json, "\n", 1);
        json.separator = false;
    }
    assert_int_equal(json_writer_finish(&json), 0);
    spool_reader_close(reader);
    assert_equal_text(&got, &wanted);
    array_free(&got);
    array_free(&wanted);
}

/* Numbers that no enum has, no bit names, and flags of counters in a sample of a thread. */
static void test_unknown_values_are_numbers(void **unused)
{
    (void)unused;
    static struct json_writer json;
    struct text_buffer got = {0};
    struct byte_sink sink = text_sink(&got);
    struct spool_event lib = {.kind = SPOOL_LIB, .lib = {.kind = 99, .path = ""}};
    struct sample sample = {.wait = 1, .reason = 77, .flags = 1u << 31 | SAMPLE_COUNTERS};
    struct spool_event unknown = {.kind = (enum spool_event_kind)SPOOL_EVENT_KINDS};
    json_writer_init(&json, &sink, NULL);
    spool_dump_event(&json, &lib);
    spool_dump_sample(&json, &sample);
    spool_dump_event(&json, &unknown);
    assert_int_equal(json_writer_finish(&json), 0);
    assert_true(text_append(&got, "", 1));
    assert_non_null(strstr(got.data, "\"library_kind\":99,"));
    assert_non_null(strstr(got.data, "\"kind\":\"wait\","));
    assert_non_null(strstr(got.data, "\"reason\":77,"));
    assert_non_null(strstr(got.data, "\"flags\":[16,2147483648],"));
    array_free(&got);
}

static void test_kinds_and_marks_that_no_version_has_are_damaged(void **unused)
{
    (void)unused;
    unsigned char bytes[] = {SPOOL_PROGRAM_MARK, SPOOL_MARK_COUNTER, 1, 1, 1, 1, 1, 0};
    struct spool_event event;
    struct cursor in = cursor_of(bytes, sizeof(bytes));
    assert_true(spool_event_read(&in, &event));
    bytes[1] = SPOOL_MARK_KINDS;
    in = cursor_of(bytes, sizeof(bytes));
    assert_false(spool_event_read(&in, &event));
    static const unsigned char numbers[] = {0, SPOOL_EVENT_KINDS, 255};
    for (size_t i = 0; i < sizeof(numbers); i++) {
        bytes[0] = numbers[i];
        in = cursor_of(bytes, sizeof(bytes));
        assert_false(spool_event_read(&in, &event));
    }
}

static void check_kind(const struct spool_kind *kind, bool is_event)
{
    assert_true(kind->since >= 2 && kind->since <= BLOCK_FILE_VERSION);
    assert_true(kind->meaning[strlen(kind->meaning) - 1] == '.');
    for (const struct spool_field *field = kind->fields; field->name; field++) {
        assert_true(field->meaning[0]);
        assert_non_null(spool_types[field->type].name);
        assert_int_equal(field->type == SPOOL_TYPE_TEXT, field->storage == SPOOL_STORES_TEXT);
        assert_int_equal(field->type == SPOOL_TYPE_BOOL, field->storage == SPOOL_STORES_BOOL);
        assert_int_equal(field->type == SPOOL_TYPE_BYTES || field->type == SPOOL_TYPE_IMAGE,
                         field->storage == SPOOL_STORES_BYTES);
        assert_int_equal(field->type == SPOOL_TYPE_FRAMES || field->type == SPOOL_TYPE_VALUES,
                         field->storage == SPOOL_STORES_U64S);
        assert_false(is_event && field->storage == SPOOL_STORES_U64S);
        for (const struct spool_field *other = kind->fields; other < field; other++)
            assert_string_not_equal(other->name, field->name);
    }
}

static void test_the_table_is_sound(void **unused)
{
    (void)unused;
    for (uint32_t kind = 1; kind < SPOOL_EVENT_KINDS; kind++) {
        assert_non_null(spool_event_kind_of(kind));
        check_kind(spool_event_kind_of(kind), true);
    }
    for (size_t kind = 0; kind < SPOOL_SAMPLE_KINDS; kind++)
        check_kind(&spool_sample_kinds[kind], false);
    assert_int_equal(BLOCK_FILE_MAGIC[BLOCK_FILE_MAGIC_NAME], '0' + BLOCK_FILE_VERSION);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_record_of_each_kind_comes_back_with_all_fields),
        cmocka_unit_test(test_the_bytes_of_a_version_stay),
        cmocka_unit_test(test_the_dump_has_each_field_by_its_name),
        cmocka_unit_test(test_unknown_values_are_numbers),
        cmocka_unit_test(test_kinds_and_marks_that_no_version_has_are_damaged),
        cmocka_unit_test(test_the_table_is_sound),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
