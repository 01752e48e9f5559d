/* Records of the kernel are taken apart field by field, and records that lie about their lengths are refused. */
#include "sample/perf_record.h"

#include "perf_bytes.h"
#include "sample/cpu_list.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>

#include <cmocka.h>

/* In memory that ends where the record does, so that the sanitizer sees a read past it. */
static int parse_exact(const void *bytes, size_t size, struct perf_record *record)
{
    void *exact = malloc(size ? size : 1);
    assert_non_null(exact);
    memcpy(exact, bytes, size);
    int code = perf_record_parse(&test_layout, exact, size, record);
    if (!code && record->type == PERF_RECORD_COMM)
        assert_true(strlen(record->comm.name) < size);
    if (!code && record->type == PERF_RECORD_MMAP2)
        assert_true(strlen(record->mapping.path) < size);
    free(exact);
    return code;
}

static void test_sample_has_its_fields(void **unused)
{
    (void)unused;
    struct record_bytes made;
    struct perf_record record;
    make_sample(&made, 10, 11, 123456, 40);
    assert_int_equal(perf_record_parse(&test_layout, made.bytes, made.size, &record), 0);
    assert_int_equal(record.pid, 10);
    assert_int_equal(record.tid, 11);
    assert_int_equal(record.time, 123456);
    assert_int_equal(record.cpu, 3);
    assert_int_equal(record.sample.ip, 0x401000);
    assert_int_equal(record.sample.value, 5000000);
    assert_int_equal(record.sample.running, 5500000);
    assert_int_equal(record.sample.id, 77);
    assert_int_equal(record.sample.callchain_length, 3);
    assert_int_equal(record.sample.stack_size, 40);
    assert_false(record.sample.stack_full);
    assert_int_equal(record.sample.stack[39], 39);
}

static void test_registers_get_their_dwarf_numbers(void **unused)
{
    (void)unused;
    struct record_bytes made;
    struct perf_record record;
    make_sample(&made, 10, 11, 1, 64);
    assert_int_equal(perf_record_parse(&test_layout, made.bytes, made.size, &record), 0);
    /* perf's order: ax bx cx dx si di bp sp ip r8...; DWARF's: ax dx cx bx si di bp sp r8... ip */
    static const uint64_t expected[] = {100, 103, 102, 101, 104, 105, 106, 107, 109,
                                        110, 111, 112, 113, 114, 115, 116, 108};
    assert_memory_equal(record.sample.registers, expected, sizeof(expected));
    assert_true(record.sample.stack_full);
}

static void test_mapping_has_device_or_build_id(void **unused)
{
    (void)unused;
    struct record_bytes made;
    struct perf_record record;
    make_mmap(&made, 10, 0x400000, 0x2000, "/usr/bin/true", PROT_READ | PROT_EXEC, 5);
    assert_int_equal(perf_record_parse(&test_layout, made.bytes, made.size, &record), 0);
    assert_string_equal(record.mapping.path, "/usr/bin/true");
    assert_true(record.mapping.executable);
    assert_false(record.mapping.has_build_id);
    assert_int_equal(record.mapping.inode, 4711);

    uint16_t misc = PERF_RECORD_MISC_MMAP_BUILD_ID;
    memcpy(made.bytes + 4, &misc, sizeof(misc));
    made.bytes[8 + 8 + 24] = 20; /* where the device was: size, 3 reserved bytes, build id */
    assert_int_equal(perf_record_parse(&test_layout, made.bytes, made.size, &record), 0);
    assert_true(record.mapping.has_build_id);
    assert_int_equal(record.mapping.build_id_size, 20);
    made.bytes[8 + 8 + 24] = 255;
    assert_int_equal(perf_record_parse(&test_layout, made.bytes, made.size, &record), 0);
    assert_int_equal(record.mapping.build_id_size, 0);
}

static void test_kernel_symbol_comes_and_goes(void **unused)
{
    (void)unused;
    struct record_bytes made;
    struct perf_record record;
    for (uint16_t is_removed = 0; is_removed < 2; is_removed++) {
        const uint16_t kind_and_flags[] = {PERF_RECORD_KSYMBOL_TYPE_BPF, is_removed};
        uint32_t length = 300;
        put_header(&made, PERF_RECORD_KSYMBOL, 0);
        put_u64(&made, UINT64_C(0xffffffffc0001000));
        put_bytes(&made, &length, sizeof(length));
        put_bytes(&made, kind_and_flags, sizeof(kind_and_flags));
        put_text(&made, "bpf_prog_12_loop");
        put_trailer(&made, 10, 11, 5);
        finish(&made);
        assert_int_equal(perf_record_parse(&test_layout, made.bytes, made.size, &record), 0);
        assert_int_equal(record.time, 5);
        assert_int_equal(record.kernel_symbol.start, 0xffffffffc0001000);
        assert_int_equal(record.kernel_symbol.length, 300);
        assert_int_equal(record.kernel_symbol.is_removed, is_removed);
        assert_string_equal(record.kernel_symbol.name, "bpf_prog_12_loop");
        for (size_t size = 0; size < made.size - 8; size++) /* 8: the name is filled up with zeros */
            assert_int_equal(perf_record_parse(&test_layout, made.bytes, size, &record), -EINVAL);
    }
}

static void test_every_truncation_is_refused(void **unused)
{
    (void)unused;
    struct record_bytes made[4];
    struct perf_record record;
    make_sample(&made[0], 10, 11, 1, 64);
    make_mmap(&made[1], 10, 0x400000, 0x2000, "/usr/bin/true", PROT_EXEC, 5);
    make_comm(&made[2], 10, 10, "a name", 0, 5);
    make_task(&made[3], PERF_RECORD_FORK, 10, 9, 10, 9, 5);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(parse_exact(made[i].bytes, made[i].size, &record), 0);
        for (size_t size = 0; size < made[i].size; size++)
            if (i != 1 && i != 2) /* a text may end in its padding */
                assert_int_equal(parse_exact(made[i].bytes, size, &record), -EINVAL);
            else
                parse_exact(made[i].bytes, size, &record);
    }
}

static void test_lying_lengths_are_refused(void **unused)
{
    (void)unused;
    static const uint64_t lies[] = {4, 1000, UINT32_MAX, UINT64_MAX / 8, UINT64_MAX / 8 + 1, UINT64_MAX};
    struct record_bytes made;
    struct perf_record record;
    make_sample(&made, 10, 11, 1, 64);
    size_t chain_at = 8 + 8 * 10, stack_at = made.size - 8 - 64 - 8, copied_at = made.size - 8;
    for (size_t i = 0; i < sizeof(lies) / sizeof(*lies); i++) {
        size_t places[] = {chain_at, stack_at, copied_at};
        for (size_t j = 0; j < 3; j++) {
            struct record_bytes lying = made;
            if (lies[i] == 4 && j)
                continue; /* true enough there */
            memcpy(lying.bytes + places[j], &lies[i], 8);
            assert_int_equal(parse_exact(lying.bytes, lying.size, &record), -EINVAL);
        }
    }
}

static void test_random_bytes_do_no_harm(void **unused)
{
    (void)unused;
    static const uint32_t types[] = {PERF_RECORD_SAMPLE, PERF_RECORD_MMAP2, PERF_RECORD_COMM, PERF_RECORD_LOST, 99};
    uint64_t state = 42;
    for (int round = 0; round < 20000; round++) {
        unsigned char bytes[256];
        for (size_t i = 0; i < sizeof(bytes); i++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            bytes[i] = (state >> 60) ? 0 : (unsigned char)(state >> 33);
        }
        memcpy(bytes, &types[round % 5], 4);
        struct perf_record record;
        parse_exact(bytes, (size_t)(state >> 40) % sizeof(bytes), &record);
    }
}

static void test_time_is_found_without_parsing(void **unused)
{
    (void)unused;
    struct record_bytes made;
    uint64_t time;
    make_sample(&made, 1, 1, 1234, 0);
    memcpy(&time, made.bytes + perf_record_find_time_offset(&test_layout, PERF_RECORD_SAMPLE, made.size), 8);
    assert_int_equal(time, 1234);
    make_comm(&made, 1, 1, "name", 0, 5678);
    memcpy(&time, made.bytes + perf_record_find_time_offset(&test_layout, PERF_RECORD_COMM, made.size), 8);
    assert_int_equal(time, 5678);
    assert_int_equal(perf_record_find_time_offset(&test_layout, PERF_RECORD_COMM, 16), SIZE_MAX);
    assert_int_equal(perf_record_find_time_offset(&test_layout, PERF_RECORD_SAMPLE, 24), SIZE_MAX);
}

static void test_cpu_lists(void **unused)
{
    (void)unused;
    struct cpu_list list = {0};
    assert_int_equal(cpu_list_parse("0-2,8,10-11\n", &list, NULL), 0);
    static const uint32_t expected[] = {0, 1, 2, 8, 10, 11};
    assert_int_equal(list.length, 6);
    assert_memory_equal(list.data, expected, sizeof(expected));
    static const char *const wrong[] = {"", "a", "1-", "3-1", "1,,2", "1 2", "-1", "0-99999999999"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
        assert_int_equal(cpu_list_parse(wrong[i], &list, NULL), -EINVAL);
    array_free(&list);
}

/* As the rings of several events have them: the clock's layout, and that of an event whose period the user gave. */
static void test_samples_tell_their_event(void **unused)
{
    (void)unused;
    const struct perf_layout clock = {.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
                                                     PERF_SAMPLE_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD};
    struct perf_layout other = clock;
    other.sample_type &= ~(uint64_t)PERF_SAMPLE_PERIOD;
    struct record_bytes made;
    struct perf_record record;
    put_header(&made, PERF_RECORD_SAMPLE, 0);
    put_u64(&made, 0x401000);
    put_u32s(&made, 10, 11);
    put_u64(&made, 123456);
    put_u64(&made, 4711);
    put_u32s(&made, 3, 0);
    finish(&made);
    assert_int_equal(perf_record_read_sample_id(&clock, made.bytes, made.size), 4711);
    assert_int_equal(perf_record_read_sample_id(&test_layout, made.bytes, made.size), 0);
    for (size_t size = 0; size < 40; size++)
        assert_int_equal(perf_record_read_sample_id(&clock, made.bytes, size), 0);
    assert_int_equal(perf_record_parse(&clock, made.bytes, made.size, &record), -EINVAL); /* it has no period */
    assert_int_equal(perf_record_parse(&other, made.bytes, made.size, &record), 0);
    assert_int_equal(record.id, 4711);
    assert_int_equal(record.cpu, 3);
    put_u64(&made, 99);
    finish(&made);
    assert_int_equal(perf_record_parse(&clock, made.bytes, made.size, &record), 0);
    assert_int_equal(record.sample.period, 99);
}

static void test_throttled_events_are_told(void **unused)
{
    (void)unused;
    const struct perf_layout layout = {.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
                                                      PERF_SAMPLE_ID | PERF_SAMPLE_CPU};
    struct record_bytes made;
    struct perf_record record;
    put_header(&made, PERF_RECORD_THROTTLE, 0);
    put_u64(&made, 5); /* time, id, stream */
    put_u64(&made, 6);
    put_u64(&made, 7);
    put_u32s(&made, 10, 11); /* the trailer */
    put_u64(&made, 123456);
    put_u64(&made, 4711);
    put_u32s(&made, 3, 0);
    finish(&made);
    assert_int_equal(perf_record_parse(&layout, made.bytes, made.size, &record), 0);
    assert_int_equal(record.type, PERF_RECORD_THROTTLE);
    assert_int_equal(record.id, 4711);
    assert_int_equal(record.tid, 11);
    assert_int_equal(record.time, 123456);
    assert_int_equal(perf_record_read_sample_id(&layout, made.bytes, made.size), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sample_has_its_fields),
        cmocka_unit_test(test_registers_get_their_dwarf_numbers),
        cmocka_unit_test(test_mapping_has_device_or_build_id),
        cmocka_unit_test(test_kernel_symbol_comes_and_goes),
        cmocka_unit_test(test_every_truncation_is_refused),
        cmocka_unit_test(test_lying_lengths_are_refused),
        cmocka_unit_test(test_random_bytes_do_no_harm),
        cmocka_unit_test(test_time_is_found_without_parsing),
        cmocka_unit_test(test_samples_tell_their_event),
        cmocka_unit_test(test_throttled_events_are_told),
        cmocka_unit_test(test_cpu_lists),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
