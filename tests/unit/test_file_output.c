/* Files that prof writes for its user: the order of their system calls, other users' links, and sudo. */
#include "os/directory.h"
#include "os/file_io.h"
#include "os/file_output.h"
#include "file/profile_file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "support/directory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- the linker calls these (--wrap) ---- */

static char calls[256]; /* "data rename directory " */
static int failing;     /* errno value of the next fdatasync(); 0: it works */

int __real_fsync(int fd);
int __real_fdatasync(int fd);
int __real_renameat(int from, const char *old, int to, const char *new);
int __wrap_fsync(int fd);
int __wrap_fdatasync(int fd);
int __wrap_renameat(int from, const char *old, int to, const char *new);

static void note(const char *call)
{
    snprintf(calls + strlen(calls), sizeof(calls) - strlen(calls), "%s ", call);
}

int __wrap_fsync(int fd)
{
    note("directory");
    return __real_fsync(fd);
}

int __wrap_fdatasync(int fd)
{
    note("data");
    if (failing) {
        errno = failing;
        return -1;
    }
    return __real_fdatasync(fd);
}

int __wrap_renameat(int from, const char *old, int to, const char *new)
{
    note(strstr(new, ".old") ? "old" : "rename");
    return __real_renameat(from, old, to, new);
}

/* ---- helpers ---- */

static int write_output(const char *path, const char *text, bool *keeps_old, struct error *err)
{
    struct file_output output;
    int code = file_output_open(&output, path, 0600, err);
    output.keeps_old = keeps_old;
    calls[0] = '\0';
    if (!code)
        code = file_write(output.fd, text, strlen(text));
    if (!code)
        code = file_output_commit(&output, err);
    file_output_close(&output);
    return code;
}

static const char *text_of(const char *name)
{
    static char text[64];
    file_read_text(in_directory(name), text, sizeof(text));
    return text;
}

static struct stat status_of(const char *name)
{
    struct stat info;
    assert_int_equal(lstat(in_directory(name), &info), 0);
    return info;
}

static int empty_directory(void **unused)
{
    (void)unused;
    failing = 0;
    unsetenv("SUDO_UID");
    unsetenv("SUDO_GID");
    run("rm -rf ./* && chmod 755 .");
    return 0;
}

static void need_root(void)
{
    if (geteuid() != 0) {
        print_message("needs root\n");
        skip();
    }
}

enum { USER = 65534, GROUP = 65533 };

/* ---- durability ---- */

static void test_a_file_is_on_the_disk_before_it_has_its_name(void **state)
{
    (void)state;
    assert_int_equal(write_output(in_directory("a"), "text", NULL, NULL), 0);
    assert_string_equal(calls, "data rename directory ");
    assert_string_equal(text_of("a"), "text");
}

static void test_profiles_exports_and_lasting_files_are_written_so(void **state)
{
    (void)state;
    struct profile_file *file;
    assert_int_equal(profile_file_create(&file, in_directory("p.json.gz"), NULL), 0);
    calls[0] = '\0';
    assert_int_equal(profile_file_commit(file, NULL), 0);
    assert_string_equal(calls, "data rename directory ");

    int fd = file_directory_open(directory, NULL);
    calls[0] = '\0';
    assert_int_equal(file_directory_save_lasting(fd, "queued", "text", 4), 0);
    assert_string_equal(calls, "data rename directory ");
    calls[0] = '\0';
    assert_int_equal(file_directory_add(fd, "secret", "text", 4), 0);
    assert_string_equal(calls, "data directory ");
    calls[0] = '\0';
    assert_int_equal(file_directory_save(fd, "cached", "text", 4), 0); /* its reader verifies a checksum */
    assert_string_equal(calls, "rename ");
    close(fd);
}

static void test_a_disk_that_fails_leaves_the_old_file(void **state)
{
    (void)state;
    struct error err = {""};
    bool has_old = false;
    write_text("a", "before");
    failing = EIO;
    assert_int_equal(write_output(in_directory("a"), "after", NULL, &err), -EIO);
    assert_non_null(strstr(err.text, in_directory("a")));
    assert_int_equal(write_output(in_directory("a"), "after", &has_old, &err), -EIO);
    assert_false(has_old);
    assert_string_equal(text_of("a"), "before");
    run("test \"$(ls)\" = a");
}

static void test_a_file_system_that_cannot_sync_is_no_failure(void **state)
{
    (void)state;
    failing = EINVAL;
    assert_int_equal(write_output(in_directory("a"), "text", NULL, NULL), 0);
    assert_string_equal(text_of("a"), "text");
}

static void test_the_replaced_file_is_kept_on_request(void **state)
{
    (void)state;
    bool has_old = false;
    assert_int_equal(write_output(in_directory("a"), "1", &has_old, NULL), 0);
    assert_false(has_old);
    for (char text[] = "2"; *text <= '3'; ++*text) {
        assert_int_equal(write_output(in_directory("a"), text, &has_old, NULL), 0);
        assert_true(has_old);
        assert_string_equal(calls, "data old data rename directory ");
    }
    assert_string_equal(text_of("a"), "3");
    assert_string_equal(text_of("a.old"), "2");
    run("ln -s b a.old.link; ln -sf a.old.link a.old"); /* a link there is replaced, not followed */
    assert_int_equal(write_output(in_directory("a"), "4", &has_old, NULL), 0);
    assert_string_equal(text_of("a.old"), "3");
    run("rm a.old; mkdir a.old");
    struct error err = {""};
    assert_int_equal(write_output(in_directory("a"), "5", &has_old, &err), -EISDIR);
    assert_string_equal(text_of("a"), "4");
}

/* ---- links, and sudo ---- */

static void test_own_links_are_followed(void **state)
{
    (void)state;
    run("mkdir there; echo before >there/a; ln -s there/a link");
    assert_int_equal(write_output(in_directory("link"), "text", NULL, NULL), 0);
    assert_true(S_ISLNK(status_of("link").st_mode));
    assert_string_equal(text_of("there/a"), "text");
}

static void test_links_of_others_are_no_way_to_a_file(void **state)
{
    (void)state;
    need_root();
    struct error err = {""};
    run("echo precious >a; mkdir shared own; chmod 1777 shared; chown %d own", USER);
    run("ln -s ../a shared/link; ln -s ../a own/link; chown -h %d */link", USER);
    assert_int_equal(write_output(in_directory("shared/link"), "text", NULL, &err), -EACCES);
    assert_non_null(strstr(err.text, "symbolic link of another user"));
    assert_int_equal(write_output(in_directory("own/link"), "text", NULL, &err), 0);
    assert_true(S_ISREG(status_of("own/link").st_mode));
    assert_string_equal(text_of("own/link"), "text");
    assert_string_equal(text_of("a"), "precious");
}

static void set_sudo_user(void)
{
    char text[16];
    snprintf(text, sizeof(text), "%d", USER);
    setenv("SUDO_UID", text, 1);
    snprintf(text, sizeof(text), "%d", GROUP);
    setenv("SUDO_GID", text, 1);
}

static void test_the_file_of_sudo_belongs_to_its_user(void **state)
{
    (void)state;
    need_root();
    set_sudo_user();
    assert_int_equal(write_output(in_directory("a"), "text", NULL, NULL), 0);
    struct stat info = status_of("a");
    assert_int_equal(info.st_uid, USER);
    assert_int_equal(info.st_gid, GROUP);
    assert_int_equal(info.st_mode & 0777, 0600);
    unsetenv("SUDO_GID");
    assert_int_equal(write_output(in_directory("b"), "text", NULL, NULL), 0);
    assert_int_equal(status_of("b").st_uid, USER);
    static const char *const odd[] = {"", "0", "-1", "4294967295", "4294967296", "12x", "root"};
    for (size_t i = 0; i < sizeof(odd) / sizeof(*odd); i++) {
        setenv("SUDO_UID", odd[i], 1);
        assert_int_equal(write_output(in_directory("c"), "text", NULL, NULL), 0);
        assert_int_equal(status_of("c").st_uid, 0);
    }
}

/* A link that the user's programs can make, and that leads where only root may create a file. */
static void test_sudo_gives_no_file_away_in_a_directory_behind_a_link(void **state)
{
    (void)state;
    need_root();
    set_sudo_user();
    run("mkdir system theirs; chown %d theirs; ln -s system to_system; ln -s theirs to_theirs", USER);
    assert_int_equal(write_output(in_directory("to_system/a"), "text", NULL, NULL), 0);
    assert_int_equal(status_of("system/a").st_uid, 0);
    assert_int_equal(write_output(in_directory("to_theirs/a"), "text", NULL, NULL), 0);
    assert_int_equal(status_of("theirs/a").st_uid, USER);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_a_file_is_on_the_disk_before_it_has_its_name, empty_directory),
        cmocka_unit_test_setup(test_profiles_exports_and_lasting_files_are_written_so, empty_directory),
        cmocka_unit_test_setup(test_a_disk_that_fails_leaves_the_old_file, empty_directory),
        cmocka_unit_test_setup(test_a_file_system_that_cannot_sync_is_no_failure, empty_directory),
        cmocka_unit_test_setup(test_the_replaced_file_is_kept_on_request, empty_directory),
        cmocka_unit_test_setup(test_own_links_are_followed, empty_directory),
        cmocka_unit_test_setup(test_links_of_others_are_no_way_to_a_file, empty_directory),
        cmocka_unit_test_setup(test_the_file_of_sudo_belongs_to_its_user, empty_directory),
        cmocka_unit_test_setup(test_sudo_gives_no_file_away_in_a_directory_behind_a_link, empty_directory),
    };
    return cmocka_run_group_tests(tests, make_empty_directory, remove_directory);
}
