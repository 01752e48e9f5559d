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
#include "serve/serve_options.h"

#include <stdbool.h>
#include <stdint.h>

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

/* Has the server notice pages that are gone, which it does when it sends something. Call it every few seconds. */
void serve_live_beat(struct server *server);

/* How many pages follow. */
unsigned serve_live_pages(struct server *server);

uint16_t serve_port(const struct server *server);

/* Ends all connections and gives up the lookup that runs, at once, and frees the server. Accepts NULL. */
void serve_stop(struct server *server);
