/*
 * Requests that take a body and time: the body is collected as it arrives, then a worker thread computes the answer
 * while the server's thread handles other connections; at the end it wakes the connection to send it.
 *
 * Threads: libmicrohttpd's thread makes, feeds and frees posts; the thread that started the worker ends and frees it.
 */
#pragma once

#include "serve/api_answer.h"
#include "serve/http_library.h"
#include "serve/serve_options.h"
#include "serve/symbol_api.h"

#include <stdbool.h>

typedef void post_function(const struct symbol_api *api, const char *body, size_t size, struct api_answer *answer);
typedef void post_file_function(struct symbol_api *api, int fd, struct api_answer *answer);

/* The handler of a request: one of the two is set. The second takes the body as a file: a whole profile. */
struct post_handler {
    post_function *body;
    post_file_function *file;
};

struct post_worker;

#define POST_TOO_LARGE "the request is larger than 16 MiB: send several smaller ones"

/* The maximum length of a body that is read to its end. */
uint64_t post_limit(const struct post_handler *handler);

/* Starts the thread, which reads the libraries of the profile at the first request. `profile_fd` and what `options`
 * points to must outlive it. Returns 0, or a negative errno value with `err` filled and `*out` NULL. */
int post_worker_start(struct post_worker **out, int profile_fd, const struct serve_options *options, struct error *err);

/* Cancels the current request, answers the queued ones with an error, and ends the thread. Afterwards no connection
 * sleeps, and new posts get an error. */
void post_worker_end(struct post_worker *worker);

/* After post_worker_end(), and after all posts have been freed. Accepts NULL. */
void post_worker_free(struct post_worker *worker);

/* Sets the current profile: the next request reads its libraries. Duplicates the descriptor. */
void post_worker_set_profile(struct post_worker *worker, int profile_fd);

struct post;

/* A request whose headers have arrived. NULL if memory ran out. */
struct post *post_new(struct MHD_Connection *connection, const struct post_handler *handler);
void post_free(struct post *post);

/* Appends the next bytes of the body. Beyond API_BODY_MAX it drops them, and the answer reports that; beyond
 * post_limit() it returns false: close the connection. */
bool post_append(struct post *post, const char *bytes, size_t size);

/* The answer, or NULL: then the connection sleeps, and libmicrohttpd calls the handler again when the answer is
 * ready. The caller may take the text. */
struct api_answer *post_answer(struct post_worker *worker, struct post *post);
