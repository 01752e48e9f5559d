/*
 * A directory of the test program's own, and shell commands in it. A test group that uses it begins with
 * make_empty_directory() and ends with remove_directory().
 */
#pragma once

#include "support/command.h"

#include <string.h>

static char directory[] = "/tmp/prof-test-XXXXXX";

static inline void run(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A shell command in the directory. */
static inline void run(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    run_in(directory, format, args);
    va_end(args);
}

static inline const char *in_directory(const char *name)
{
    static char path[256];
    snprintf(path, sizeof(path), "%s/%s", directory, name);
    return path;
}

static inline void write_text(const char *name, const char *text)
{
    FILE *out = fopen(in_directory(name), "w");
    assert_non_null(out);
    fputs(text, out);
    fclose(out);
}

/* For cmocka_run_group_tests(). */
static inline int make_empty_directory(void **unused)
{
    (void)unused;
    return mkdtemp(directory) ? 0 : -1;
}

static inline int remove_directory(void **unused)
{
    (void)unused;
    run("rm -rf %s", directory);
    return 0;
}
