/*
 * Options and contents of the web server. See serve.h.
 */
#pragma once

#include "serve/source_map.h"
#include "symbol/debug_search.h"

enum { SERVE_FIRST_PORT = 3000 };

#define SERVE_HOSTED_ORIGIN "https://profiler.firefox.com"

/* A file of the page, compressed when prof was built. */
struct serve_asset {
    const char *path; /* below the token: "" is the page itself, then "main.js", ... */
    const char *type; /* Content-Type */
    const char *etag; /* changes with the content; includes the quotes */
    const unsigned char *gzip;
    size_t gzip_size;
};

/* Added pieces of a growing profile (profile/append.h): objects of the array "added", each after a comma, in the first
 * `end` bytes of an append-only file. `base` is the number of the file. */
struct serve_added {
    int fd;
    uint64_t base, end;
};

struct serve_options {
    const struct serve_asset *assets; /* assets of the page; all texts of this struct must outlive the server */
    size_t asset_count;
    const char *directory;       /* a front-end to serve instead of the assets, or NULL for none */
    const char *page_origin;     /* the web page that may read profile and symbols, "https://...", or NULL for none */
    const char *token;           /* token of the address (own_address_init()), or NULL (a new random token) */
    uint16_t first_choice;       /* the preferred port, or 0 for none */
    uint16_t port;               /* the port if first_choice is taken, or 0 (any free port) */
    bool search_port;            /* try the following ports while the port is taken */
    const char *cache_directory; /* see struct symbolizer_options */
    const struct debug_search *search; /* directories of debug files for the symbol API, or NULL (the system's
                                          directories); must outlive the server */
    const struct source_map *source_maps;
    size_t source_map_count;
    const struct serve_added *added; /* added pieces of the profile, or NULL for none */
    bool is_live;                    /* the profile belongs to a running recording: serve_live_publish() */
    /* Callback of a live server, in a thread of the server: sends a request of the page, a line such as "pause", to the
     * recording, and stores the answer, a sentence. Returns false on failure. */
    bool (*control)(void *context, const char *request, char *answer, size_t size);
    void *control_context;
};
