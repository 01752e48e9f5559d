/*
 * The handler of requests for libmicrohttpd. requests.c states which requests the server answers.
 *
 * Threads: the thread of the web server.
 */
#pragma once

#include "serve/server_state.h"

/* Handles a request to the server of `context`. libmicrohttpd calls the handler after the headers, for each piece of a
 * body, and at the end of the request, with the same `*kept`. */
enum MHD_Result requests_handle(void *context, struct MHD_Connection *connection, const char *url, const char *method,
                                const char *version, const char *body, size_t *body_size, void **kept);

/* Frees `*kept` when a request has ended. */
void requests_free(void *context, struct MHD_Connection *connection, void **kept,
                   enum MHD_RequestTerminationCode reason);
