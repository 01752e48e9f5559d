/*
 * A folder of the test program's own, and shell commands in it. A test group that uses it begins with
 * make_empty_folder() and ends with remove_folder().
 */
#ifndef PROF_TESTS_FOLDER_H
#define PROF_TESTS_FOLDER_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static char folder[] = "/tmp/prof-test-XXXXXX";

static inline void run(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A shell command in the folder. */
static inline void run(const char *format, ...)
{
    char command[4096];
    int used = snprintf(command, sizeof(command), "cd %s && ", folder);
    va_list args;
    va_start(args, format);
    vsnprintf(command + used, sizeof(command) - (size_t)used, format, args);
    va_end(args);
    if (system(command) != 0)
        fail_msg("failed: %s", command);
}

static inline bool has_command(const char *name)
{
    char command[256];
    snprintf(command, sizeof(command), "command -v %s >/dev/null 2>&1", name);
    return system(command) == 0;
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

#endif
