/*
 * The end of `prof record` and the whole of `prof load`: serve a saved profile, print its address, open the browser,
 * and wait for Ctrl+C.
 */
#pragma once

#include "base/array.h"
#include "serve/serve.h"
#include "cmd/common/symbol_options.h"

struct serving_options {
    bool no_open; /* -n: do not open a browser */
    uint16_t port;
    bool search_port, has_port;           /* has_port: -P was given */
    bool new_address;                     /* --new-address: a random address for this run */
    const char *ui;                       /* --ui: "hosted" or a directory, or NULL (prof's own page) */
    bool no_cache;                        /* --no-cache: do not use the symbol cache on disk */
    ARRAY(struct source_map) source_maps; /* --source-map, in order */
};

/* Defaults: the first free port from 3000, and a browser if a desktop is running. */
#define SERVING_DEFAULTS                                                                                               \
    {                                                                                                                  \
        .port = SERVE_FIRST_PORT, .search_port = true                                                                  \
    }

extern const struct option_row serving_option_rows[];

/* Returns whether the command line has an option that only a server uses: -n, -P, --ui or --new-address. */
bool has_server_options(const struct serving_options *options);

/* In an SSH session, prints the ssh command that forwards the port to the user's own machine. */
void print_tunnel(uint16_t port);

/*
 * Serves a saved profile until SIGINT, SIGTERM or SIGHUP. Prints the address to standard error. The function waits for
 * these signals with sigtimedwait(), so the caller's handlers do not run. `symbols` is open and stays open. Returns 0,
 * or 1 after a sentence about what failed (a taken port, an unreadable file).
 */
int serve_and_wait(const char *profile_path, const struct serving_options *options, struct symbol_options *symbols);

/* Like serve_and_wait(), for an open file; takes ownership of `profile_fd`. The address depends on the file
 * `original_fd`, of which `profile_fd` may be a changed copy. */
int serve_open_and_wait(int profile_fd, int original_fd, const struct serving_options *options,
                        struct symbol_options *symbols);

/* Like serve_and_wait(), but checks the profile first, and symbolicates a profile without symbols (load.c). */
int load_profile(const char *path, const struct serving_options *options, struct symbol_options *symbols);
