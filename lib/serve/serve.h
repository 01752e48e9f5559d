/*
 * The web server that shows one profile to the user of this machine only.
 * It listens on 127.0.0.1. All paths begin with a secret that only the printed address contains, so other users and
 * other web pages cannot read the profile; serve.c lists all that it refuses.
 * Threads: any one thread starts and stops a server; any thread may call serve_url() in between.
 */
#pragma once

#include "base/error.h"
#include "serve/serve_options.h"

#include <stdbool.h>
#include <stdint.h>

struct server;

/*
 * Starts to serve, in threads of its own, the assets and below `profile.json` the bytes of the file that `profile_fd`
 * has open for reading: JSON, plain or gzip, or JSLB. The server takes ownership of the descriptor, even on failure;
 * the file may be renamed or deleted. Returns 0, or a negative errno value with `err` filled and `*out` NULL.
 *
 * Signals should be blocked in the calling thread, so that the new threads leave them to it.
 */
int serve_start(struct server **out, const struct serve_options *options, int profile_fd, struct error *err);

/* "http://127.0.0.1:3000/TOKEN/"; valid until serve_stop(). */
const char *serve_url(const struct server *server);

/*
 * For a live server: sends the state of the recording to the pages that follow `live` (server-sent events); `state` is
 * one line of JSON. `profile_fd`: the profile to serve now, owned by the server; -1: unchanged. `added`: its added
 * pieces, in a file that the server opens again; NULL: none. A slow page misses states, but never the newest one, the
 * only one that the server stores. `goes_on`: more states will follow.
 */
void serve_live_publish(struct server *server, int profile_fd, const struct serve_added *added, const char *state,
                        bool goes_on);

/* Has the server notice pages that are gone, which it does when it sends something. Call it every few seconds. */
void serve_live_beat(struct server *server);

/* The number of pages that follow the recording. */
unsigned serve_live_pages(struct server *server);

uint16_t serve_port(const struct server *server);

/* Closes all connections, cancels the current lookup, and frees the server. Accepts NULL. */
void serve_stop(struct server *server);
