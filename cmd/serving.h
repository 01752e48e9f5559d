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
    bool no_open; /* -n: do not open a browser even where there is a desktop */
    uint16_t port;
    bool search_port;
    const char *ui;                       /* --ui: "hosted" or a folder; NULL: prof's own page */
    bool no_cache;                        /* --no-cache: neither read nor write files of looked up names */
    ARRAY(struct source_map) source_maps; /* --source-map, in the order given */
};

/* What holds without options: the first free port from 3000, and a browser where there is a desktop. */
#define SERVING_DEFAULTS                                                                                               \
    {                                                                                                                  \
        .port = SERVE_FIRST_PORT, .search_port = true                                                                  \
    }

/* The value of -P/--port: "3000" that port only, "3000+" the first free one from it, "0" any. False if it is none of
 * these (say so with ui_usage()). */
bool serving_parse_port(const char *text, struct serving_options *options);

#define UI_USAGE "'%s' is no front-end: it takes 'hosted' or a folder with an index.html"

/* The value of --ui: "hosted" or a folder. False if it is neither (say so with UI_USAGE). */
bool serving_parse_ui(const char *text, struct serving_options *options);

#define SOURCE_MAP_USAGE "'%s' maps no folder: it takes OLD=NEW, such as /build/src=/home/me/src"

/* The value of --source-map: "OLD=NEW". Cuts the text in two. False if it is something else (say so with
 * SOURCE_MAP_USAGE). */
bool serving_add_source_map(char *text, struct serving_options *options);

/*
 * Serves the file, which was saved or checked before, until SIGINT, SIGTERM or SIGHUP. Prints the address on standard
 * error. These signals are waited for, not handled: the caller's handlers do not run meanwhile. `symbols`
 * is open and stays so. Returns 0, or 1 after a sentence about what failed (a taken port, an unreadable file).
 */
int serve_and_wait(const char *profile_path, const struct serving_options *options, struct symbol_options *symbols);

/* The same for a file that is open, which this takes over. */
int serve_open_and_wait(int profile_fd, const struct serving_options *options, struct symbol_options *symbols);

#endif
