/*
 * The web server that shows one profile to the user of this machine, and to nobody else.
 *
 * It listens on 127.0.0.1. Everything is below a secret path element that only the printed address has, so that
 * other users and other web pages cannot read the profile; see serve.c for the whole list of what it refuses.
 *
 * Threads: one thread, any, starts and stops a server; serve_url() is for any thread in between.
 */
#pragma once

#include "base/error.h"
#include "serve/source_map.h"
#include "symbol/debug_search.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SERVE_FIRST_PORT = 3000 };

#define SERVE_HOSTED_ORIGIN "https://profiler.firefox.com"

/* A file of the page, compressed when prof was built. */
struct serve_asset {
    const char *path; /* below the token: "" is the page itself, then "main.js", ... */
    const char *type; /* Content-Type */
    const char *etag; /* changes with the content; with its quotes */
    const unsigned char *gzip;
    size_t gzip_size;
};

/* What is added to the profile (profile/append.h): the first `end` bytes of a file that only grows, number `base` of
 * such files, with objects of "added" and a comma before each. */
struct serve_added {
    int fd;
    uint64_t base, end;
};

struct serve_options {
    const struct serve_asset *assets; /* all texts must outlive the server */
    size_t asset_count;
    const char *folder;                /* a front-end to serve instead of the assets; NULL: none */
    const char *page_origin;           /* the web page that may read profile and symbols, "https://..."; NULL: none */
    const char *token;                 /* see own_address_init(); NULL: a new random one */
    uint16_t first_choice;             /* the port to use if it is free; 0: none */
    uint16_t port;                     /* else this; 0: any free one */
    bool search_port;                  /* go on to the next port while it is taken */
    const char *cache_folder;          /* see struct symbolizer_options */
    const struct debug_search *search; /* for the symbol API; NULL: the system's folders. Must outlive the server */
    const struct source_map *source_maps;
    size_t source_map_count;
    const struct serve_added *added; /* of the profile; NULL: nothing */
    bool is_live;                    /* the profile is one of a recording that goes on: serve_live_publish() */
    /* Passes on a request of the page to the recording, a line ("pause"), and fills in the answer, a sentence; false if
     * it failed. Called in a thread of the server. Only of a live server. */
    bool (*control)(void *context, const char *request, char *answer, size_t size);
    void *control_context;
};

struct server;

/*
 * Starts to serve, in threads of its own, the assets and below `profile.json` the bytes of the file that `profile_fd`
 * has open for reading: JSON, plain or gzip, or JSLB. The server owns the descriptor from here on, also when this
 * fails; what happens to the name of the file does not matter any more. Returns 0, or a negative errno value with `err`
 * filled and `*out` NULL.
 *
 * Signals should be blocked in the calling thread, so that the new threads leave them to it.
 */
int serve_start(struct server **out, const struct serve_options *options, int profile_fd, struct error *err);

/* "http://127.0.0.1:3000/TOKEN/"; valid until serve_stop(). */
const char *serve_url(const struct server *server);

/*
 * Of a live server. Tells the pages that follow `live` (server-sent events) how the recording is: `state` is JSON of
 * one line. `profile_fd`: the profile that is served from now on, which the server owns; -1: the one before. `added`:
 * to that, in a file that the server opens once more; NULL: nothing. A page that does not read misses states, not the
 * newest one: the server keeps that and no others. `goes_on`: other states follow.
 */
void serve_live_publish(struct server *server, int profile_fd, const struct serve_added *added, const char *state,
                        bool goes_on);

/* Has the server notice pages that are gone, which it does when it sends something. To be called every few seconds. */
void serve_live_beat(struct server *server);

/* How many pages follow. */
unsigned serve_live_pages(struct server *server);

uint16_t serve_port(const struct server *server);

/* Ends all connections and gives up the lookup that runs, at once, and frees the server. NULL is allowed. */
void serve_stop(struct server *server);
