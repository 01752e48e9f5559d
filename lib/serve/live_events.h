/*
 * Server-sent events for pages that follow a running recording: each page gets the newest state, a line of JSON, and
 * its number. A page that reconnects starts with the newest state, too, so the server needs no queue.
 *
 * Threads: libmicrohttpd's thread calls live_add_page(), any thread the other functions.
 */
#pragma once

#include "serve/http_library.h"

#include <pthread.h>

enum { LIVE_STATE_SIZE = 1024, LIVE_PAGES_MAX = 16 };

struct live_page;

struct live {
    pthread_mutex_t lock;
    struct live_page *pages[LIVE_PAGES_MAX]; /* NULL if none */
    unsigned number, beats;
    char state[LIVE_STATE_SIZE];
    bool is_ending;
};

void live_init(struct live *live);

/* Returns an endless response with the events for this connection, or NULL if LIVE_PAGES_MAX pages already follow,
 * or memory ran out. */
struct MHD_Response *live_add_page(struct live *live, struct MHD_Connection *connection);

void live_publish(struct live *live, const char *state);

/* Sends an empty comment to all pages: sending fails on the connections of closed pages, so libmicrohttpd closes them.
 */
void live_send_heartbeat(struct live *live);
unsigned live_count_pages(struct live *live);

/* Ends all answers. Afterwards no connection is suspended. */
void live_end(struct live *live);

/* Destroys `live` after the server has stopped. */
void live_destroy(struct live *live);
