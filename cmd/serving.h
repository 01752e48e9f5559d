/*
 * The end of `prof record` and the whole of `prof load`: serve a saved profile, print its address, open the browser,
 * and wait for Ctrl+C.
 */
#pragma once

#include "base/array.h"
#include "serve/serve.h"
#include "cmd/common/symbol_options.h"

#include <stdbool.h>
#include <stdint.h>

struct serving_options {
    bool no_open; /* -n: do not open a browser */
    uint16_t port;
    bool search_port, has_port;           /* has_port: -P was given */
    bool new_address;                     /* --new-address: one that was never used */
    const char *ui;                       /* --ui: "hosted" or a directory; NULL: prof's own page */
    bool no_cache;                        /* --no-cache: do not use the symbol cache on disk */
    ARRAY(struct source_map) source_maps; /* --source-map, in order */
};

/* Defaults: the first free port from 3000, and a browser if there is a desktop. */
#define SERVING_DEFAULTS                                                                                               \
    {                                                                                                                  \
        .port = SERVE_FIRST_PORT, .search_port = true                                                                  \
    }

extern const struct option_row serving_option_rows[];

/* Whether one of the options was given that only a server has use for: -n, -P, --ui, --new-address. */
bool serving_was_requested(const struct serving_options *options);

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
