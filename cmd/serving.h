/*
 * The end of `prof record` and the whole of `prof load`: serve a saved profile, print its address, open the browser,
 * and wait for Ctrl+C.
 */
#ifndef PROF_CMD_SERVING_H
#define PROF_CMD_SERVING_H

#include "base/array.h"
#include "serve/serve.h"
#include "symbol_options.h"

#include <stdbool.h>
#include <stdint.h>

struct serving_options {
    bool no_open; /* -n: do not open a browser */
    uint16_t port;
    bool search_port, has_port;           /* has_port: -P was given */
    bool new_address;                     /* --new-address: one that was never used */
    const char *ui;                       /* --ui: "hosted" or a folder; NULL: prof's own page */
    bool no_cache;                        /* --no-cache: do not use the symbol cache on disk */
    ARRAY(struct source_map) source_maps; /* --source-map, in order */
};

/* Defaults: the first free port from 3000, and a browser if there is a desktop. */
#define SERVING_DEFAULTS                                                                                               \
    {                                                                                                                  \
        .port = SERVE_FIRST_PORT, .search_port = true                                                                  \
    }

/* Parses -P/--port: "3000" only that port, "3000+" the first free port from it, "0" any. False for anything else
 * (report it with ui_usage()). */
bool serving_parse_port(const char *text, struct serving_options *options);

#define UI_USAGE "'%s' is not a front-end: give 'hosted' or a folder with an index.html"

/* Parses --ui: "hosted" or a folder. False for anything else (report it with UI_USAGE). */
bool serving_parse_ui(const char *text, struct serving_options *options);

#define SOURCE_MAP_USAGE "'%s' does not map a folder: give OLD=NEW, such as /build/src=/home/me/src"

/* Parses --source-map: "OLD=NEW". Splits the text in two. False for anything else (report it with SOURCE_MAP_USAGE). */
bool serving_add_source_map(char *text, struct serving_options *options);

/*
 * Serves the file, which was saved before, until SIGINT, SIGTERM or SIGHUP. Prints the address on standard
 * error. These signals are waited for, not handled: the caller's handlers do not run meanwhile. `symbols`
 * is open and stays so. Returns 0, or 1 after a sentence about what failed (a taken port, an unreadable file).
 */
int serve_and_wait(const char *profile_path, const struct serving_options *options, struct symbol_options *symbols);

/* The same for an open file; takes over the descriptor. The address is that of the file `original_fd`, of which the
 * other one may be a changed copy. */
int serve_open_and_wait(int profile_fd, int original_fd, const struct serving_options *options,
                        struct symbol_options *symbols);

#endif
