/*
 * Options and contents of the web server. See serve.h.
 */
#pragma once

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

/* Added pieces of the profile (profile/append.h): the first `end` bytes of an append-only file, number `base` of
 * such files, with objects of "added" and a comma before each. */
struct serve_added {
    int fd;
    uint64_t base, end;
};

struct serve_options {
    const struct serve_asset *assets; /* all texts must outlive the server */
    size_t asset_count;
    const char *directory;             /* a front-end to serve instead of the assets; NULL: none */
    const char *page_origin;           /* the web page that may read profile and symbols, "https://..."; NULL: none */
    const char *token;                 /* see own_address_init(); NULL: a new random one */
    uint16_t first_choice;             /* the preferred port; 0: none */
    uint16_t port;                     /* else this; 0: any free one */
    bool search_port;                  /* try the next port while one is taken */
    const char *cache_directory;       /* see struct symbolizer_options */
    const struct debug_search *search; /* for the symbol API; NULL: the system's directories. Must outlive the server */
    const struct source_map *source_maps;
    size_t source_map_count;
    const struct serve_added *added; /* of the profile; NULL: nothing */
    bool is_live;                    /* the profile belongs to a running recording: serve_live_publish() */
    /* Passes on a request of the page to the recording, a line ("pause"), and fills in the answer, a sentence; false if
     * it failed. Called in a thread of the server. Only of a live server. */
    bool (*control)(void *context, const char *request, char *answer, size_t size);
    void *control_context;
};
