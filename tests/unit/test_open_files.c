/* The mapped files and root directories that stay open for the recording. */
#include "process/open_files.h"

#include "os/file_io.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static void test_our_root_directory_needs_no_descriptor(void **unused)
{
    (void)unused;
    struct open_files files;
    open_files_init(&files);
    assert_int_equal(open_files_add_root(&files, (uint32_t)getpid()), -1);
    assert_int_equal(open_files_add_root(&files, (uint32_t)getppid()), -1);
    assert_int_equal(open_files_add_root(&files, UINT32_MAX), -1);
    assert_int_equal(files.roots.length, 0);
    open_files_destroy(&files);
}

/* A process with that root directory. */
static pid_t start_in_root(const char *directory)
{
    int ready[2];
    char byte;
    assert_int_equal(pipe(ready), 0);
    pid_t pid = fork();
    if (pid == 0) {
        if (chroot(directory) != 0 || chdir("/") != 0 || write(ready[1], "x", 1) != 1)
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

static void write_file(const char *directory, const char *name)
{
    char path[300];
    snprintf(path, sizeof(path), "%s/%s", directory, name);
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fputs(name, out);
    fclose(out);
}

static void test_root_directory_outlives_its_process(void **unused)
{
    (void)unused;
    char directory[] = "/tmp/test_open_files_XXXXXX", path[300], text[8] = "";
    assert_non_null(mkdtemp(directory));
    write_file(directory, "inside");
    snprintf(path, sizeof(path), "%s/link", directory);
    assert_int_equal(symlink("/inside", path), 0);
    pid_t pid = start_in_root(directory), other = start_in_root(directory);
    if (pid > 0 && other > 0) {
        struct open_files files;
        open_files_init(&files);
        int index = open_files_add_root(&files, (uint32_t)pid);
        assert_true(index >= 0);
        assert_int_equal(open_files_add_root(&files, (uint32_t)other), index);
        kill(pid, SIGKILL);
        kill(other, SIGKILL);
        waitpid(pid, NULL, 0);
        waitpid(other, NULL, 0);
        int root = files.roots.data[index].fd;
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
    snprintf(path, sizeof(path), "%s/inside", directory);
    unlink(path);
    rmdir(directory);
    if (pid < 0)
        skip();
}

/* As if our process had mapped the file. */
static struct mapped_file map_path(const char *path, bool can_reopen)
{
    struct mapped_file mapped = {.can_reopen = can_reopen};
    assert_int_equal(file_source_new(&mapped.file, open(path, O_RDONLY | O_CLOEXEC), -1, path, NULL), 0);
    return mapped;
}

static void add(struct open_files *files, uint32_t number, const char *path, bool can_reopen)
{
    struct mapped_file mapped = map_path(path, can_reopen);
    assert_true(open_files_add(files, number, &mapped, (uint32_t)getpid()));
    mapped_file_destroy(&mapped);
}

static void test_file_is_known_by_the_number_of_its_library(void **unused)
{
    (void)unused;
    struct open_files files;
    open_files_init(&files);
    add(&files, 3, "/proc/self/exe", false);
    int fd = open_files_get(&files, 3)->fd;
    assert_true(fd >= 0);
    assert_int_equal(open_files_get_root_fd(&files, 3), -1);
    assert_null(open_files_get(&files, 2));
    assert_null(open_files_get(&files, 4));
    assert_int_equal(open_files_get_root_fd(&files, 4), -1);
    open_files_set_silent(&files, 7);
    for (uint32_t number = 0; number < 9; number++)
        assert_int_equal(open_files_is_silent(&files, number), number == 7);
    open_files_destroy(&files);
    assert_int_equal(fcntl(fd, F_GETFD), -1);
}

/* The target may want to unmount it; one that nothing leads to any more would be lost. */
static void test_file_in_a_mount_that_is_not_ours_is_closed_if_it_can_be_opened_again(void **unused)
{
    (void)unused;
    char mount_point[] = "/tmp/test_open_files_XXXXXX", path[300];
    assert_non_null(mkdtemp(mount_point));
    if (mount("tmpfs", mount_point, "tmpfs", 0, NULL) != 0) {
        rmdir(mount_point);
        skip();
    }
    write_file(mount_point, "library");
    snprintf(path, sizeof(path), "%s/library", mount_point);
    struct open_files files;
    open_files_init(&files);
    add(&files, 0, path, true);
    add(&files, 1, path, false);
    bool is_open = open_files_get(&files, 0)->fd >= 0, without_path_is_open = open_files_get(&files, 1)->fd >= 0;
    open_files_destroy(&files);
    int unmounted = umount(mount_point);
    rmdir(mount_point);
    assert_int_equal(unmounted, 0);
    assert_false(is_open);
    assert_true(without_path_is_open);
}

static void test_root_directory_in_a_mount_that_is_not_ours_is_opened_again_at_the_end(void **unused)
{
    (void)unused;
    char mount_point[] = "/tmp/test_open_files_XXXXXX";
    assert_non_null(mkdtemp(mount_point));
    if (mount("tmpfs", mount_point, "tmpfs", 0, NULL) != 0) {
        rmdir(mount_point);
        skip();
    }
    write_file(mount_point, "inside");
    struct open_files files;
    open_files_init(&files);
    pid_t pid = start_in_root(mount_point);
    int index = open_files_add_root(&files, (uint32_t)pid);
    bool is_open = index >= 0 && files.roots.data[index].fd >= 0;
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    open_files_reopen_roots(&files);
    int fd = index >= 0 ? file_open_in(files.roots.data[index].fd, "/inside") : -1;
    if (fd >= 0)
        close(fd);
    open_files_destroy(&files);
    int unmounted = umount(mount_point);
    rmdir(mount_point);
    assert_int_equal(unmounted, 0);
    assert_true(index >= 0);
    assert_false(is_open);
    assert_true(fd >= 0);
}

static void test_file_in_our_root_mount_stays_open(void **unused)
{
    (void)unused;
    int before = open(".", O_RDONLY | O_CLOEXEC);
    struct open_files files;
    assert_int_equal(chdir("/proc"), 0);
    open_files_init(&files);
    assert_int_equal(fchdir(before), 0);
    close(before);
    add(&files, 0, "/bin/sh", true);
    assert_true(open_files_get(&files, 0)->fd >= 0);
    open_files_destroy(&files);
}

static void test_some_descriptors_are_left_for_others(void **unused)
{
    (void)unused;
    struct open_files files;
    open_files_init(&files);
    struct rlimit before, low;
    getrlimit(RLIMIT_NOFILE, &before);
    low = before;
    low.rlim_cur = 100;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
    uint32_t open_count = 0;
    for (uint32_t i = 0; i < 200; i++) {
        add(&files, i, "/proc/self/exe", true);
        open_count += open_files_get(&files, i)->fd >= 0;
    }
    assert_in_range(open_count, 30, 75);
    assert_true(open_files_get(&files, 0)->fd >= 0); /* the first: the program and what it loads at its start */
    open_files_destroy(&files);
    setrlimit(RLIMIT_NOFILE, &before);
}

static void test_jitdump_files_take_a_share_of_the_descriptors(void **unused)
{
    (void)unused;
    struct jit_files files = {0};
    struct stat info;
    struct rlimit before, low;
    assert_int_equal(stat("/proc/self/exe", &info), 0);
    struct perf_mapping mapping = {.path = "/proc/self/exe",
                                   .device_major = major(info.st_dev),
                                   .device_minor = minor(info.st_dev),
                                   .inode = info.st_ino};
    getrlimit(RLIMIT_NOFILE, &before);
    low = before;
    low.rlim_cur = 80;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
    for (uint32_t process = 0; process < 40; process++)
        assert_true(jit_files_open_jitdump(&files, process, (uint32_t)getpid(), false, &mapping));
    setrlimit(RLIMIT_NOFILE, &before);
    assert_int_equal(files.dumps, 10);
    jit_files_destroy(&files);
}

/* Adds the file that the process has as "/inside" when no more descriptors may be used; returns whether it opens again.
 */
static bool opens_again_under_pressure(struct open_files *files, const char *path, pid_t pid)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct mapped_file mapped = {.file = NULL};
    struct rlimit before, low;
    assert_int_equal(file_source_new(&mapped.file, fd, -1, "/inside", NULL), 0);
    getrlimit(RLIMIT_NOFILE, &before);
    low = before;
    low.rlim_cur = (rlim_t)fd / 3 * 4 + 3;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
    assert_true(open_files_add(files, 0, &mapped, (uint32_t)pid));
    setrlimit(RLIMIT_NOFILE, &before);
    assert_int_equal(mapped.file->fd, -1);
    assert_int_equal(fcntl(fd, F_GETFD), -1);
    fd = file_source_open(mapped.file);
    if (fd >= 0)
        close(fd);
    mapped_file_destroy(&mapped);
    return fd >= 0;
}

static void test_without_descriptors_the_root_directory_leads_to_a_file(void **unused)
{
    (void)unused;
    char directory[] = "/tmp/test_open_files_XXXXXX", path[300];
    assert_non_null(mkdtemp(directory));
    write_file(directory, "inside");
    snprintf(path, sizeof(path), "%s/inside", directory);
    pid_t pid = start_in_root(directory);
    bool opens = false, opens_deleted = true;
    size_t lost[2] = {0};
    for (int is_deleted = 0; is_deleted < 2 && pid > 0; is_deleted++) {
        struct open_files files;
        open_files_init(&files);
        assert_int_equal(open_files_add_root(&files, (uint32_t)pid), 0);
        if (is_deleted) {
            char again[] = "/proc/self/fd/0000000000";
            int fd = open(path, O_RDONLY | O_CLOEXEC);
            snprintf(again, sizeof(again), "/proc/self/fd/%d", fd);
            unlink(path);
            opens_deleted = opens_again_under_pressure(&files, again, pid);
            close(fd);
        } else {
            opens = opens_again_under_pressure(&files, path, pid);
        }
        lost[is_deleted] = files.lost;
        open_files_destroy(&files);
    }
    unlink(path);
    rmdir(directory);
    if (pid < 0)
        skip();
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    assert_true(opens);
    assert_false(opens_deleted);
    assert_int_equal(lost[0], 0);
    assert_int_equal(lost[1], 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_without_descriptors_the_root_directory_leads_to_a_file),
        cmocka_unit_test(test_our_root_directory_needs_no_descriptor),
        cmocka_unit_test(test_root_directory_outlives_its_process),
        cmocka_unit_test(test_file_is_known_by_the_number_of_its_library),
        cmocka_unit_test(test_file_in_a_mount_that_is_not_ours_is_closed_if_it_can_be_opened_again),
        cmocka_unit_test(test_root_directory_in_a_mount_that_is_not_ours_is_opened_again_at_the_end),
        cmocka_unit_test(test_file_in_our_root_mount_stays_open),
        cmocka_unit_test(test_some_descriptors_are_left_for_others),
        cmocka_unit_test(test_jitdump_files_take_a_share_of_the_descriptors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
