/*
 * The web server that shows one profile, and only to the user who runs prof. The server listens on 127.0.0.1. All paths
 * begin with a secret that only the printed address contains, so other users and other web pages cannot read the
 * profile; requests.c lists the conditions for an answer. Threads: any one thread starts and stops a server; any thread
 * may call serve_get_url() in between.
 */
#pragma once

#include "base/error.h"
#include "serve/serve_options.h"

struct server;

/*
 * Starts to serve, in threads of its own, the assets and below `profile.json` the bytes of the file that `profile_fd`
 * has open for reading: JSON, plain or gzip, or JSLB. The server takes ownership of the descriptor, even on failure;
 * the file may be renamed or deleted. Returns 0, or a negative errno value with `err` filled and `*out` NULL.
 *
 * The caller blocks signals before the call: the new threads inherit the mask, so signals go to the calling thread.
 */
int serve_start(struct server **out, const struct serve_options *options, int profile_fd, struct error *err);

/* "http://127.0.0.1:3000/TOKEN/"; valid until serve_stop(). */
const char *serve_get_url(const struct server *server);

/*
 * For a live server: sends the state of the recording, one line of JSON, to the pages that follow the recording
 * (server-sent events). `profile_fd`: the new profile, owned by the server, or -1 if unchanged. `added`: the added
 * pieces of the profile, in a file that the server opens again, or NULL for none. The server stores only the newest
 * state: a slow page misses older states. `goes_on`: more states will follow.
 */
void serve_live_publish(struct server *server, int profile_fd, const struct serve_added *added, const char *state,
                        bool goes_on);

/* Sends an empty event, so that the server detects closed pages. Call this function every few seconds. */
void serve_send_heartbeat(struct server *server);

/* Returns the number of pages that follow the recording. */
unsigned serve_count_pages(struct server *server);

uint16_t serve_get_port(const struct server *server);

/* Closes all connections, cancels the current lookup, and frees the server. Accepts NULL. */
void serve_stop(struct server *server);
