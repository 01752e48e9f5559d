/* Files that are opened again by path and identity. */
#include "os/file_source.h"

#include "support/directory.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

static struct file_source *source_of(const char *name)
{
    write_text(name, "as it was");
    struct file_source *source;
    int fd = open(in_directory(name), O_RDONLY | O_CLOEXEC);
    assert_int_equal(file_source_new(&source, fd, -1, in_directory(name), NULL), 0);
    return source;
}

static void assert_reads(struct file_source *source, const char *text)
{
    char out[32] = "";
    assert_int_equal(file_source_read_at(source, out, sizeof(out), 3), strlen(text) - 3);
    assert_string_equal(out, text + 3);
}

static void test_closed_file_is_read_through_its_path(void **unused)
{
    (void)unused;
    struct file_source *source = source_of("there");
    int fd = source->fd;
    assert_reads(source, "as it was");
    file_source_close(source);
    assert_int_equal(fcntl(fd, F_GETFD), -1);
    assert_reads(source, "as it was");
    file_source_unref(source);
}

static void test_file_that_is_gone_is_not_replaced_by_another(void **unused)
{
    (void)unused;
    char out[8];
    struct file_source *source = source_of("gone");
    file_source_close(source);
    run("mv gone elsewhere && printf 'as it was' >gone && touch -r elsewhere gone"); /* the same size and time */
    assert_int_equal(file_source_open(source), -ESTALE);
    assert_int_equal(file_source_read_at(source, out, sizeof(out), 0), -ESTALE);
    run("rm gone");
    assert_int_equal(file_source_open(source), -ENOENT);
    run("mv elsewhere gone");
    assert_reads(source, "as it was");
    run("printf more >>gone");
    assert_int_equal(file_source_open(source), -ESTALE);
    file_source_unref(source);
}

static void test_deleted_file_stays_open(void **unused)
{
    (void)unused;
    struct file_source *source = source_of("deleted");
    run("rm deleted");
    assert_reads(source, "as it was");
    int own = file_source_open(source);
    assert_true(own >= 0 && own != source->fd);
    close(own);
    file_source_unref(file_source_ref(source));
    assert_reads(source, "as it was");
    file_source_unref(source);
}

static void test_what_is_no_file_has_no_handle(void **unused)
{
    (void)unused;
    struct error err = {""};
    int fd = open(directory, O_RDONLY | O_CLOEXEC);
    struct file_source *source;
    assert_int_equal(file_source_new(&source, fd, -1, directory, &err), -EINVAL);
    assert_null(source);
    assert_non_null(strstr(err.text, "is not a regular file"));
    assert_int_equal(fcntl(fd, F_GETFD), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_closed_file_is_read_through_its_path),
        cmocka_unit_test(test_file_that_is_gone_is_not_replaced_by_another),
        cmocka_unit_test(test_deleted_file_stays_open),
        cmocka_unit_test(test_what_is_no_file_has_no_handle),
    };
    return cmocka_run_group_tests(tests, make_empty_directory, remove_directory);
}
