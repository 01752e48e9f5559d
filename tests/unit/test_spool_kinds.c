/* Each record kind of the spool file is written and read back, in the bytes of its version, and is in the dump. */
#include "spool/block_file.h"
#include "spool/spool_dump.h"
#include "spool/record_code.h"
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

static void assert_equal_blob(const struct spool_blob *left, const struct spool_blob *right)
{
    assert_int_equal(right->size, left->size);
    if (left->size)
        assert_memory_equal(left->bytes, right->bytes, left->size);
}

static void assert_equal_list(const struct spool_list *left, const struct spool_list *right)
{
    assert_int_equal(right->count, left->count);
    if (left->count)
        assert_memory_equal(left->items, right->items, left->count * sizeof(uint64_t));
}

static void assert_equal_field(const struct spool_field *field, const void *a, const void *b)
{
    const void *left = spool_field_get_member(field, a), *right = spool_field_get_member(field, b);
    static const size_t sizes[] = {
        [SPOOL_STORES_BOOL] = sizeof(bool), [SPOOL_STORES_U32] = 4, [SPOOL_STORES_U64] = 8, [SPOOL_STORES_DOUBLE] = 8};
    if (field->storage == SPOOL_STORES_TEXT)
        assert_string_equal(*(const char *const *)left, *(const char *const *)right);
    else if (field->storage == SPOOL_STORES_BLOB)
        assert_equal_blob(left, right);
    else if (field->storage == SPOOL_STORES_LIST)
        assert_equal_list(left, right);
    else
        assert_memory_equal(left, right, sizes[field->storage]);
}

static void assert_equal_record(const struct spool_record *a, const struct spool_record *b)
{
    assert_int_equal(a->kind, b->kind);
    uint32_t mark = b->kind == SPOOL_PROGRAM_MARK ? b->program_mark.mark : 0;
    for (const struct spool_field *field = spool_find_kind(a->kind)->fields; field->name; field++)
        if (spool_field_is_in(field, mark))
            assert_equal_field(field, &a->metadata, &b->metadata);
}

/* ---- tests ---- */

static void test_a_record_of_each_kind_comes_back_with_all_fields(void **unused)
{
    (void)unused;
    struct spool_reader *reader;
    struct spool_record record;
    bool seen[SPOOL_SAMPLES + SPOOL_SAMPLE_KINDS] = {false};
    size_t count = 0;
    int code;
    write_file();
    assert_int_equal(spool_reader_open(&reader, path, NULL), 0);
    for (; (code = spool_reader_read(reader, &record, NULL)) > 0; count++) {
        assert_true(count < EVERY_RECORD);
        assert_equal_record(&record, &every_record[count]);
        seen[record.kind] = true;
    }
    assert_int_equal(code, 0);
    assert_int_equal(spool_reader_count_damaged_parts(reader), 0);
    spool_reader_close(reader);
    assert_int_equal(count, EVERY_RECORD);
    for (uint32_t kind = 0; kind < SPOOL_SAMPLES + SPOOL_SAMPLE_KINDS; kind++)
        assert_int_equal(seen[kind], spool_find_kind(kind) != NULL);
}

/* If this test fails, the format has changed: raise its version.
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
    struct spool_record record;
    write_file();
    json_writer_init(&json, &sink, NULL);
    assert_int_equal(spool_reader_open(&reader, path, NULL), 0);
    while (spool_reader_read(reader, &record, NULL) > 0) {
        spool_dump_record(&json, &record);
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

/* Numbers that no enum has, and a bit without a name. */
static void test_unknown_values_are_numbers(void **unused)
{
    (void)unused;
    static struct json_writer json;
    struct text_buffer got = {0};
    struct byte_sink sink = text_sink(&got);
    struct spool_record library = {SPOOL_LIB, .library = {.library_kind = 99, .path = ""}};
    struct spool_record wait = {SPOOL_WAIT, .wait = {.wait_ns = 1, .reason = 77, .flags = 1u << 31 | SAMPLE_TRUNCATED}};
    struct spool_record unknown = {(enum spool_record_kind)SPOOL_EVENT_KINDS, .metadata = {"", ""}};
    json_writer_init(&json, &sink, NULL);
    spool_dump_record(&json, &library);
    spool_dump_record(&json, &wait);
    spool_dump_record(&json, &unknown);
    assert_int_equal(json_writer_finish(&json), 0);
    assert_true(text_append(&got, "", 1));
    assert_non_null(strstr(got.data, "\"library_kind\":99,"));
    assert_non_null(strstr(got.data, "\"kind\":\"wait\","));
    assert_non_null(strstr(got.data, "\"reason\":77,"));
    assert_non_null(strstr(got.data, "\"flags\":[\"truncated\",2147483648],"));
    array_free(&got);
}

static void test_kinds_and_marks_that_no_version_has_are_damaged(void **unused)
{
    (void)unused;
    unsigned char bytes[] = {SPOOL_PROGRAM_MARK, SPOOL_MARK_COUNTER, 1, 1, 1, 1, 1, 0};
    struct spool_record record;
    struct cursor in = cursor_of(bytes, sizeof(bytes));
    assert_true(record_code_read(&in, &record));
    bytes[1] = SPOOL_MARK_KINDS;
    in = cursor_of(bytes, sizeof(bytes));
    assert_false(record_code_read(&in, &record));
    static const unsigned char numbers[] = {0, SPOOL_EVENT_KINDS, 255};
    for (size_t i = 0; i < sizeof(numbers); i++) {
        bytes[0] = numbers[i];
        in = cursor_of(bytes, sizeof(bytes));
        assert_false(record_code_read(&in, &record));
    }
}

static void check_kind(const struct spool_kind *kind, bool is_event)
{
    assert_true(kind->since >= 2 && kind->since <= BLOCK_FILE_VERSION);
    assert_true(kind->meaning[strlen(kind->meaning) - 1] == '.');
    for (const struct spool_field *field = kind->fields; field->name; field++) {
        assert_true(field->meaning[0]);
        assert_non_null(spool_types[field->type].name);
        assert_false(is_event && field->storage == SPOOL_STORES_LIST);
        for (const struct spool_field *other = kind->fields; other < field; other++)
            assert_string_not_equal(other->name, field->name);
    }
}

static void test_the_table_is_sound(void **unused)
{
    (void)unused;
    for (uint32_t kind = 1; kind < SPOOL_EVENT_KINDS; kind++) {
        assert_non_null(spool_find_kind(kind));
        check_kind(spool_find_kind(kind), true);
    }
    for (uint32_t kind = 0; kind < SPOOL_SAMPLE_KINDS; kind++) {
        const struct spool_field *fields = spool_find_kind(SPOOL_SAMPLES + kind)->fields;
        check_kind(spool_find_kind(SPOOL_SAMPLES + kind), false);
        assert_int_equal(fields[0].offset, offsetof(struct spool_sample, thread)); /* spool_writer_append() */
        assert_int_equal(fields[1].offset, offsetof(struct spool_sample, time_ns));
        assert_string_equal(fields[1].name, "time_ns");
    }
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
