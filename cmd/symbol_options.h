/*
 * --symbol-dir and --debuginfod, which all commands have that look for symbols, and what the user sees while debug
 * files are fetched.
 */
#ifndef PROF_CMD_SYMBOL_OPTIONS_H
#define PROF_CMD_SYMBOL_OPTIONS_H

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

/* Zero it to start. */
struct symbol_options {
    ARRAY(const char *) folders; /* the command line's */
    const char *urls;            /* of --debuginfod; NULL: those of DEBUGINFOD_URLS */
    bool leave_interrupts;       /* Ctrl+C is for somebody else, also while files are fetched */
    struct debug_search search;
    bool is_open;
    struct rlimit files_before;
};

/* Takes one of the two options; 0, or the exit status after saying what is wrong with it. */
int symbol_options_parse(struct symbol_options *options, const char *command, int option, const char *value);

/* Where to look, and a connection to the debug servers if there are any to ask; says so if that is not possible. For
 * the time until symbol_options_close(). SIGINT should be blocked: then Ctrl+C ends fetching, and nothing else. A
 * program started from here on gets the servers in its environment. */
const struct debug_search *symbol_options_open(struct symbol_options *options);

/* Ends fetches that are on their way, in other threads. */
void symbol_options_stop(struct symbol_options *options);

void symbol_options_close(struct symbol_options *options);

#endif
