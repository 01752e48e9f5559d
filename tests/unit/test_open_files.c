/* Files and root folders that stay open from the recording on. */
#include "base/file_io.h"
#include "record/open_files.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static void test_our_root_folder_needs_no_descriptor(void **unused)
{
    (void)unused;
    struct open_files files = {.files = {0}};
    assert_int_equal(open_files_root(&files, (uint32_t)getpid()), -1);
    assert_int_equal(open_files_root(&files, (uint32_t)getppid()), -1);
    assert_int_equal(open_files_root(&files, UINT32_MAX), -1);
    assert_int_equal(files.roots.length, 0);
    open_files_destroy(&files);
}

/* A process with that root folder. */
static pid_t start_in_root(const char *folder)
{
    int ready[2];
    char byte;
    assert_int_equal(pipe(ready), 0);
    pid_t pid = fork();
    if (pid == 0) {
        if (chroot(folder) != 0 || chdir("/") != 0 || write(ready[1], "x", 1) != 1)
            _exit(1);
        pause();
        _exit(0);
    }
    close(ready[1]);
    bool started = read(ready[0], &byte, 1) == 1;
    close(ready[0]);
    if (started)
        return pid;
    waitpid(pid, NULL, 0);
    return -1;
}

static void write_file(const char *folder, const char *name)
{
    char path[300];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fputs(name, out);
    fclose(out);
}

static void test_root_folder_outlives_its_process(void **unused)
{
    (void)unused;
    char folder[] = "/tmp/test_open_files_XXXXXX", path[300], text[8] = "";
    assert_non_null(mkdtemp(folder));
    write_file(folder, "inside");
    snprintf(path, sizeof(path), "%s/link", folder);
    assert_int_equal(symlink("/inside", path), 0);
    pid_t pid = start_in_root(folder), other = start_in_root(folder);
    if (pid > 0 && other > 0) {
        struct open_files files = {.files = {0}};
        int root = open_files_root(&files, (uint32_t)pid);
        assert_true(root >= 0);
        assert_int_equal(open_files_root(&files, (uint32_t)other), root);
        kill(pid, SIGKILL);
        kill(other, SIGKILL);
        waitpid(pid, NULL, 0);
        waitpid(other, NULL, 0);
        int fd = file_open_in(root, "/link"); /* an absolute link, which means something else to us */
        assert_true(fd >= 0);
        assert_int_equal(read(fd, text, sizeof(text)), 6);
        close(fd);
        fd = file_open_in(root, "/../../../../inside");
        assert_true(fd >= 0);
        close(fd);
        assert_int_equal(file_open_in(root, "/proc/self/exe"), -ENOENT);
        open_files_destroy(&files);
    }
    unlink(path);
    snprintf(path, sizeof(path), "%s/inside", folder);
    unlink(path);
    rmdir(folder);
    if (pid < 0)
        skip();
}

static void test_file_is_known_by_the_number_of_its_library(void **unused)
{
    (void)unused;
    struct open_files files = {.files = {0}};
    int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    assert_true(open_files_add(&files, 3, fd, 77));
    assert_int_equal(open_files_get(&files, 3).fd, fd);
    assert_int_equal(open_files_get(&files, 3).root_fd, 77);
    assert_int_equal(open_files_get(&files, 2).fd, -1);
    assert_int_equal(open_files_get(&files, 4).fd, -1);
    open_files_destroy(&files);
    assert_int_equal(fcntl(fd, F_GETFD), -1);
}

static void test_some_descriptors_are_left_for_others(void **unused)
{
    (void)unused;
    struct open_files files = {.files = {0}};
    struct rlimit before, low;
    getrlimit(RLIMIT_NOFILE, &before);
    low = before;
    low.rlim_cur = 100;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
    uint32_t kept_count = 0;
    for (uint32_t i = 0; i < 200; i++) {
        int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
        assert_true(fd >= 0);
        assert_true(open_files_add(&files, i, fd, -1));
        kept_count += open_files_get(&files, i).fd >= 0;
    }
    assert_in_range(kept_count, 30, 75);
    assert_true(open_files_get(&files, 0).fd >= 0); /* the first ones: the program and what it loads at its start */
    open_files_destroy(&files);
    setrlimit(RLIMIT_NOFILE, &before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_our_root_folder_needs_no_descriptor),
        cmocka_unit_test(test_root_folder_outlives_its_process),
        cmocka_unit_test(test_file_is_known_by_the_number_of_its_library),
        cmocka_unit_test(test_some_descriptors_are_left_for_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
