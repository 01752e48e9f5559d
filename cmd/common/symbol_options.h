/*
 * --symbol-dir and --debuginfod, for all commands that symbolize, and the progress shown while debug files are fetched.
 */
#pragma once

#include "cmd/common/directories.h"

#include "base/array.h"
#include "symbol/debug_search.h"
#include "symbol/debug_server.h"

#include <stdbool.h>
#include <sys/resource.h>

/* For a command's table of long options. */
enum { OPTION_SYMBOL_DIR = 1000, OPTION_DEBUGINFOD };
#define SYMBOL_OPTIONS                                                                                                 \
    {"symbol-dir", required_argument, NULL, OPTION_SYMBOL_DIR},                                                        \
    {                                                                                                                  \
        "debuginfod", required_argument, NULL, OPTION_DEBUGINFOD                                                       \
    }

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

/* Parses one of the two options. Returns 0, or the exit status after a message. */
int symbol_options_parse(struct symbol_options *options, const char *command, int option, const char *value);

/* Returns where to search, with a connection to the debug servers if there are any; prints a message if that fails.
 * Valid until symbol_options_close(). With SIGINT blocked, Ctrl+C ends only the fetching. Programs started after this
 * call inherit the servers in their environment. */
const struct debug_search *symbol_options_open(struct symbol_options *options);

/* Cancels fetches running in other threads. */
void symbol_options_stop(struct symbol_options *options);

void symbol_options_close(struct symbol_options *options);
