/*
 * --symbol-dir and --debuginfod, for all commands that symbolize, and the progress shown while debug files are fetched.
 */
#pragma once

#include "cmd/common/directories.h"
#include "cmd/common/options.h"

#include "base/array.h"
#include "symbol/debug_search.h"
#include "symbol/debug_server.h"

#include <stdbool.h>
#include <sys/resource.h>

/* Zero it. */
struct symbol_options {
    ARRAY(const char *) directories; /* from the command line */
    const char *urls;                /* from --debuginfod; NULL: DEBUGINFOD_URLS */
    bool leave_interrupts;           /* Ctrl+C is for somebody else, also during fetches */
    struct debug_search search;
    struct directory_path perf_cache; /* for search.perf_cache */
    bool is_open;
    struct rlimit files_before;
};

extern const struct option_row symbol_option_rows[];

/* True if one of the options is set. */
bool symbol_options_are_set(const struct symbol_options *options);

/* Returns where to search, with a connection to the debug servers if there are any; prints a message if that fails.
 * Valid until symbol_options_close(). With SIGINT blocked, Ctrl+C ends only the fetching. Programs started after this
 * call inherit the servers in their environment. */
const struct debug_search *symbol_options_open(struct symbol_options *options);

/* Cancels fetches running in other threads. */
void symbol_options_stop(struct symbol_options *options);

void symbol_options_close(struct symbol_options *options);
