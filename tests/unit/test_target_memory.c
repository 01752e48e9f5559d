/* Memory of another process, also of another user, and memory that nobody fills in. */
#include "os/target_memory.h"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { PAGE = 4096, NOBODY = 65534 };

static unsigned char *shared_place; /* at the same address in each child */

/* Starts a process of the user that waits. Its page at shared_place has `fill`, or is filled in by nobody. */
static pid_t start(uid_t user, unsigned char fill, bool is_silent)
{
    int ready[2];
    char byte;
    assert_int_equal(pipe(ready), 0);
    pid_t pid = fork();
    if (!pid) {
        memset(shared_place, fill, 2 * PAGE);
        if (is_silent) {
            int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
            struct uffdio_api api = {.api = UFFD_API};
            struct uffdio_register area = {.range = {.start = (uint64_t)(uintptr_t)shared_place, .len = 2 * PAGE},
                                           .mode = UFFDIO_REGISTER_MODE_MISSING};
            if (fd < 0 || ioctl(fd, UFFDIO_API, &api) || madvise(shared_place, 2 * PAGE, MADV_DONTNEED) ||
                ioctl(fd, UFFDIO_REGISTER, &area))
                _exit(1);
        }
        if (user != getuid() && setresuid(user, user, user))
            _exit(2);
        (void)!write(ready[1], "x", 1);
        for (;;)
            pause();
    }
    close(ready[1]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    return pid;
}

static void end(pid_t pid)
{
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

static void need_root(void)
{
    if (getuid())
        skip();
}

static struct target_thread main_of(pid_t pid)
{
    return (struct target_thread){(uint32_t)pid, (uint32_t)pid};
}

static uint64_t place(size_t offset)
{
    return (uint64_t)(uintptr_t)shared_place + offset;
}

static void expect_reads(pid_t pid, unsigned char fill)
{
    unsigned char first[PAGE] = {0}, second[10] = {0}, more[4 * PAGE];
    char command[100] = "";
    assert_int_equal(target_memory_read(main_of(pid), place(0), first, PAGE), PAGE);
    assert_int_equal(first[0], fill);
    assert_int_equal(first[PAGE - 1], fill);

    const struct iovec local[] = {{first, 3}, {second, 10}};
    const struct iovec remote[] = {{shared_place + 1, 3}, {shared_place + PAGE, 10}};
    memset(first, 0, sizeof(first));
    assert_int_equal(target_memory_readv(main_of(pid), local, 2, remote, 2), 13);
    assert_int_equal(first[2], fill);
    assert_int_equal(first[3], 0);
    assert_int_equal(second[9], fill);

    assert_int_equal(target_memory_read(main_of(pid), place(PAGE), more, sizeof(more)),
                     PAGE); /* the rest is unmapped */
    assert_int_equal(target_memory_read(main_of(pid), 8, first, 8), 0);
    assert_true(target_memory_read_file(main_of(pid), "cmdline", command, sizeof(command)) > 0);
    assert_non_null(strstr(command, "test_target_memory"));
    assert_int_equal(target_memory_read_file(main_of(pid), "none", command, sizeof(command)), 0);
}

static void test_memory_of_a_process_of_this_user(void **unused)
{
    (void)unused;
    char byte;
    pid_t pid = start(getuid(), 7, false);
    expect_reads(pid, 7);
    assert_int_equal(target_memory_get_cpu_time(), 0);
    end(pid);
    assert_int_equal(target_memory_read(main_of(pid), place(0), &byte, 1), 0);
}

static void test_a_helper_reads_the_memory_of_another_user(void **unused)
{
    (void)unused;
    uint32_t silent;
    need_root();
    pid_t pid = start(NOBODY, 8, false);
    expect_reads(pid, 8);
    assert_true(target_memory_get_cpu_time() > 0);
    target_memory_stop();
    expect_reads(pid, 8);
    assert_false(target_memory_take_silent(&silent));
    end(pid);
}

static void test_memory_that_nobody_fills_costs_one_timeout(void **unused)
{
    (void)unused;
    unsigned char byte;
    uint32_t named = 0;
    need_root();
    int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
    if (fd < 0)
        skip();
    close(fd);
    pid_t same_user = start(NOBODY, 5, false), other_user = start(NOBODY - 1, 6, false);
    pid_t silent[TARGET_MEMORY_SILENT_OF_USER];
    for (size_t i = 0; i < TARGET_MEMORY_SILENT_OF_USER; i++) {
        silent[i] = start(NOBODY, 0, true);
        assert_int_equal(target_memory_read(main_of(same_user), place(0), &byte, 1), 1);
        assert_int_equal(byte, 5);
        assert_int_equal(target_memory_read(main_of(silent[i]), place(0), &byte, 1), 0);
        assert_true(target_memory_take_silent(&named));
        assert_int_equal(named, silent[i]);
        for (int j = 0; j < 1000; j++)
            assert_int_equal(target_memory_read(main_of(silent[i]), place(0), &byte, 1), 0);
        assert_false(target_memory_take_silent(&named));
    }
    assert_int_equal(target_memory_read(main_of(same_user), place(0), &byte, 1), 0);
    assert_int_equal(target_memory_read(main_of(other_user), place(0), &byte, 1), 1);
    assert_int_equal(byte, 6);
    for (size_t i = 0; i < TARGET_MEMORY_SILENT_OF_USER; i++)
        end(silent[i]);

    /* After the pause, the user's memory is read again. */
    for (int i = 0; i < 6000 && !target_memory_read(main_of(same_user), place(0), &byte, 1); i++)
        usleep(10000);
    assert_int_equal(byte, 5);
    end(same_user);
    end(other_user);
    target_memory_stop();
}

int main(void)
{
    shared_place = mmap(NULL, 8 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (shared_place == MAP_FAILED || munmap(shared_place + 2 * PAGE, 6 * PAGE))
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory_of_a_process_of_this_user),
        cmocka_unit_test(test_a_helper_reads_the_memory_of_another_user),
        cmocka_unit_test(test_memory_that_nobody_fills_costs_one_timeout),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}