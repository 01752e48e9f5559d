/* Shell commands of tests. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static inline bool has_command(const char *name)
{
    char command[256];
    snprintf(command, sizeof(command), "command -v %s >/dev/null 2>&1", name);
    return system(command) == 0;
}

static inline void run_in(const char *directory, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));

/* The test fails if the command does. */
static inline void run_in(const char *directory, const char *format, va_list args)
{
    char command[4096];
    int used = snprintf(command, sizeof(command), "cd %s && ", directory);
    vsnprintf(command + used, sizeof(command) - (size_t)used, format, args);
    if (system(command) != 0)
        fail_msg("failed: %s", command);
}
