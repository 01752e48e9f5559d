/*
 * Members of JSON objects about waits, for the terminal and the page.
 */
#pragma once

#include "base/json_write.h"
#include "tree/wait_groups.h"

/* The longest wait of a row. */
struct longest_wait {
    double ms;       /* clipped to the range; 0: unknown */
    double from, to; /* ms: its start and end */
    uint32_t thread;
};

/* Writes "longest", if it is known. */
void longest_wait_write(struct json_writer *json, const struct longest_wait *longest);

/* Writes a member with a function, its file and line (0: unknown), if `func` is not PROFILE_NONE. */
void wait_place_write(struct json_writer *json, const char *key, const struct profile *profile, uint32_t func,
                      uint32_t line);
