/*
 * A folder of the test program's own, and shell commands in it. A test group that uses it begins with
 * make_empty_folder() and ends with remove_folder().
 */
#pragma once

#include "support/command.h"

#include <string.h>

static char folder[] = "/tmp/prof-test-XXXXXX";

static inline void run(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A shell command in the folder. */
static inline void run(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    run_in(folder, format, args);
    va_end(args);
}

static inline const char *in_folder(const char *name)
{
    static char path[256];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    return path;
}

static inline void write_text(const char *name, const char *text)
{
    FILE *out = fopen(in_folder(name), "w");
    assert_non_null(out);
    fputs(text, out);
    fclose(out);
}

/* For cmocka_run_group_tests(). */
static inline int make_empty_folder(void **unused)
{
    (void)unused;
    return mkdtemp(folder) ? 0 : -1;
}

static inline int remove_folder(void **unused)
{
    (void)unused;
    run("rm -rf %s", folder);
    return 0;
}
