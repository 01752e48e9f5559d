/*
 * The options --symbol-dir and --debuginfod of all commands that symbolize, and the progress line during downloads of
 * debug files.
 */
#pragma once

#include "cmd/common/directories.h"
#include "cmd/common/options.h"

#include "base/array.h"
#include "symbol/debug_search.h"
#include "symbol/debug_server.h"

#include <sys/resource.h>

/* Starts zeroed. */
struct symbol_options {
    ARRAY(const char *) directories; /* arguments of --symbol-dir */
    const char *urls;                /* argument of --debuginfod, or NULL (use DEBUGINFOD_URLS) */
    bool leave_interrupts;           /* SIGINT has another handler, also during downloads */
    struct debug_search search;
    struct directory_path perf_cache; /* for search.perf_cache */
    bool is_open;
    struct rlimit files_before;
};

extern const struct option_row symbol_option_rows[];

/* Returns true if --symbol-dir or --debuginfod was given. */
bool symbol_options_are_set(const struct symbol_options *options);

/* Returns the directories to search and a connection to the debug servers, if any are set; prints a message if the
 * connection fails. The result is valid until symbol_options_close(). If SIGINT is blocked, Ctrl+C ends only the
 * download. Programs started after this call inherit the servers in their environment. */
const struct debug_search *symbol_options_open(struct symbol_options *options);

/* Cancels downloads in other threads. */
void symbol_options_stop(struct symbol_options *options);

/* Blocks SIGINT if prof may download files, so that Ctrl+C ends only the downloads; and unblocks it. */
void symbol_options_block_interrupts(const struct symbol_options *options, bool blocks);

void symbol_options_close(struct symbol_options *options);
