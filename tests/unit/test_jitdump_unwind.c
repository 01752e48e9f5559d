/*
 * A jitdump file that is read while it is written: the frames of a process's code. tests/e2e/test_jitdump walks through
 * such code.
 */
#include "process/jitdump_unwind.h"
#include "unwind/module.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

enum { CODE_SIZE = 705, FIRST = 0x10000, SECOND = 0x20000 };

/* What V8 11 wrote for a function of 705 bytes: .eh_frame, and 20 bytes of .eh_frame_hdr. From byte 0x4f & 0x3f = 15 on
 * the CFA is 16 above sp. */
static const unsigned char frames_of_v8[88] = {
    0x18, 0,    0,    0,    0,    0, 0,    0,    3,    'z',  'L',  'R',  0,    1,    0x78, 0x10, 2, 0xff,
    0x1b, 0x0c, 7,    8,    0x90, 1, 0,    0,    0,    0,    0x20, 0,    0,    0,    0x20, 0,    0, 0,
    0x14, 0xfd, 0xff, 0xff, 0xc1, 2, 0,    0,    0,    0x4f, 0x0e, 0x10, 0x86, 2,    0x43, 0x0d, 6, 2,
    0x56, 0x0d, 7,    0x41, 0x0e, 8, 0x52, 0x0c, 6,    0x10, 0,    0,    0,    0,    1,    0x1b, 3, 0x3b,
    0xb8, 0xff, 0xff, 0xff, 1,    0, 0,    0,    0xf4, 0xfc, 0xff, 0xff, 0xd8, 0xff, 0xff, 0xff};

struct process {
    int fd;
    struct jitdump_unwind *frames;
    struct address_space space;
};

static void put(const struct process *process, uint64_t value, size_t size)
{
    assert_int_equal(write(process->fd, &value, size), size);
}

static void put_head(const struct process *process, uint64_t kind, uint64_t body)
{
    put(process, kind, 4);
    put(process, 16 + body, 4);
    put(process, 0, 8);
}

static void put_frames(const struct process *process)
{
    put_head(process, 4, 24 + sizeof(frames_of_v8));
    put(process, sizeof(frames_of_v8), 8);
    put(process, 20, 8);
    put(process, 0, 8);
    assert_int_equal(write(process->fd, frames_of_v8, sizeof(frames_of_v8)), sizeof(frames_of_v8));
}

static void put_code(const struct process *process, uint64_t start, uint64_t size)
{
    put_head(process, 0, 40 + 2 + 8);
    put(process, 0, 8);
    put(process, start, 8);
    put(process, start, 8);
    put(process, size, 8);
    put(process, 1, 8);
    put(process, 'f', 2);
    put(process, 0, 8); /* the code; this is not looked at */
}

static void put_move(const struct process *process, uint64_t from, uint64_t to, uint64_t size)
{
    put_head(process, 1, 48);
    put(process, 0, 8);
    put(process, to, 8);
    put(process, from, 8);
    put(process, to, 8);
    put(process, size, 8);
    put(process, 1, 8);
}

/* With code at FIRST and SECOND in one piece of anonymous memory, and a library. */
static struct process start(void)
{
    struct process process = {.fd = memfd_create("jitdump", MFD_CLOEXEC)};
    struct mapping memory = {.start = FIRST, .end = 0x30000, .lib = MAPPING_NO_LIB};
    struct mapping library = {.start = 0x30000, .end = 0x40000, .lib = 3};
    assert_true(process.fd >= 0);
    process.frames = jitdump_unwind_new(process.fd);
    assert_non_null(process.frames);
    assert_true(address_space_map(&process.space, &memory));
    assert_true(address_space_map(&process.space, &library));
    assert_int_equal(write(process.fd, "DTiJ\1\0\0\0\x28\0\0\0", 12), 12);
    put(&process, 0, 8);
    put(&process, 0, 8);
    put(&process, 0, 8);
    put(&process, 0, 4);
    return process;
}

static void end(struct process *process)
{
    jitdump_unwind_free(process->frames);
    address_space_destroy(&process->space);
    close(process->fd);
}

/* How far the CFA is above sp, or -1 if nothing is known of the frame at this place. */
static int64_t frame_at(struct process *process, uint64_t pc)
{
    jitdump_unwind_follow(process->frames, &process->space);
    const struct mapping *mapping = address_space_find(&process->space, pc);
    struct cfi_fde fde;
    struct cfi_row row;
    struct unwind_work work = {0};
    assert_non_null(mapping);
    if (!mapping->module)
        return -1;
    assert_int_equal(mapping->lib, MAPPING_NO_LIB);
    uint64_t vaddr = pc - mapping->start + mapping->rva + unwind_module_get_base(mapping->module);
    if (!unwind_module_find_fde(mapping->module, vaddr, &fde) || !cfi_find_row(&fde, vaddr, &row, &work))
        return -1;
    assert_int_equal(row.cfa_register, row.cfa_value == 16 && pc % 0x10000 > 15 ? UNWIND_REG_BP : UNWIND_REG_SP);
    return row.cfa_value;
}

static void test_code_has_the_frames_that_its_compiler_wrote(void **unused)
{
    (void)unused;
    struct process process = start();
    assert_int_equal(frame_at(&process, FIRST), -1);
    put_frames(&process);
    put_code(&process, FIRST, CODE_SIZE);
    put_code(&process, SECOND, CODE_SIZE); /* of which nothing is said */
    assert_int_equal(frame_at(&process, FIRST), 8);
    assert_int_equal(frame_at(&process, FIRST + 15), 16);
    assert_int_equal(frame_at(&process, FIRST + CODE_SIZE - 1), 16);
    assert_int_equal(frame_at(&process, FIRST + CODE_SIZE), -1);
    assert_int_equal(frame_at(&process, SECOND), -1);
    end(&process);
}

static void test_a_record_that_is_half_written_is_waited_for(void **unused)
{
    (void)unused;
    struct process whole = start(), process = start();
    put_frames(&whole);
    put_code(&whole, FIRST, CODE_SIZE);
    char bytes[512];
    ssize_t size = pread(whole.fd, bytes, sizeof(bytes), 40);
    assert_true(size > 0 && (size_t)size < sizeof(bytes));
    for (ssize_t i = 0; i < size; i++) {
        bool is_there = i >= size - 10; /* what follows is the code itself and its name */
        assert_int_equal(frame_at(&process, FIRST), is_there ? 8 : -1);
        assert_int_equal(write(process.fd, bytes + i, 1), 1);
    }
    assert_int_equal(frame_at(&process, FIRST), 8);
    end(&whole);
    end(&process);
}

static void test_other_code_at_the_same_place_has_not_its_frames(void **unused)
{
    (void)unused;
    struct process process = start();
    put_frames(&process);
    put_code(&process, FIRST, CODE_SIZE);
    assert_int_equal(frame_at(&process, FIRST + 300), 16);
    put_code(&process, FIRST, 200);
    assert_int_equal(frame_at(&process, FIRST + 199), -1);
    assert_int_equal(frame_at(&process, FIRST + 300), 16); /* what is left of the old code */
    put_code(&process, FIRST + 100, 4096);
    assert_int_equal(frame_at(&process, FIRST + 300), -1);
    end(&process);
}

static void test_code_that_moves_takes_its_frames_along(void **unused)
{
    (void)unused;
    struct process process = start();
    put_frames(&process);
    put_code(&process, FIRST, CODE_SIZE);
    put_move(&process, FIRST, SECOND, CODE_SIZE);
    assert_int_equal(frame_at(&process, FIRST), -1);
    assert_int_equal(frame_at(&process, SECOND), 8);
    assert_int_equal(frame_at(&process, SECOND + 15), 16);
    end(&process);
}

static void test_memory_that_is_made_executable_again_keeps_its_frames(void **unused)
{
    (void)unused;
    struct process process = start();
    struct mapping again = {.start = FIRST, .end = 0x30000, .lib = MAPPING_NO_LIB};
    put_frames(&process);
    put_code(&process, FIRST, CODE_SIZE);
    assert_int_equal(frame_at(&process, FIRST), 8);
    assert_true(address_space_map_around(&process.space, &again));
    assert_int_equal(frame_at(&process, FIRST), 8);
    end(&process);
}

static void test_code_of_libraries_stays_theirs(void **unused)
{
    (void)unused;
    struct process process = start();
    put_frames(&process);
    put_code(&process, 0x30000, CODE_SIZE);
    put_frames(&process);
    put_code(&process, UINT64_MAX - 100, CODE_SIZE);
    put_frames(&process);
    put_code(&process, FIRST, UINT64_MAX);
    put_frames(&process);
    put_code(&process, 0x30000 - 16, CODE_SIZE); /* into it */
    put_frames(&process);
    put_code(&process, 0x28000, 0x20000); /* over it */
    jitdump_unwind_follow(process.frames, &process.space);
    assert_int_equal(address_space_find(&process.space, 0x30000)->lib, 3);
    assert_int_equal(process.space.count, 2);
    end(&process);
}

static void test_frames_that_are_not_of_the_code_are_not_believed(void **unused)
{
    (void)unused;
    struct process process = start();
    put_frames(&process);
    put_code(&process, FIRST, 64); /* they would begin at -640 */
    assert_int_equal(frame_at(&process, FIRST), -1);
    put_head(&process, 4, 24); /* more bytes than the record has */
    put(&process, UINT64_MAX, 8);
    put(&process, 20, 8);
    put(&process, 0, 8);
    put_code(&process, FIRST, CODE_SIZE);
    assert_int_equal(frame_at(&process, FIRST), -1);
    put_frames(&process);
    put_code(&process, FIRST, CODE_SIZE); /* and so on */
    assert_int_equal(frame_at(&process, FIRST), 8);
    end(&process);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_code_has_the_frames_that_its_compiler_wrote),
        cmocka_unit_test(test_a_record_that_is_half_written_is_waited_for),
        cmocka_unit_test(test_other_code_at_the_same_place_has_not_its_frames),
        cmocka_unit_test(test_code_that_moves_takes_its_frames_along),
        cmocka_unit_test(test_memory_that_is_made_executable_again_keeps_its_frames),
        cmocka_unit_test(test_code_of_libraries_stays_theirs),
        cmocka_unit_test(test_frames_that_are_not_of_the_code_are_not_believed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
