/*
 * Requests with a body and a slow answer: the server's thread collects the body, and a worker thread computes the
 * answer while the server's thread handles other connections; then the worker resumes the connection, which sends the
 * answer.
 *
 * Threads: libmicrohttpd's thread makes, feeds and frees posts; the thread that started the worker also ends and frees
 * the worker.
 */
#pragma once

#include "serve/api_answer.h"
#include "serve/http_library.h"
#include "serve/serve_options.h"
#include "serve/symbol_api.h"

typedef void post_function(const struct symbol_api *api, const char *body, size_t size, struct api_answer *answer);
typedef void post_file_function(struct symbol_api *api, int fd, struct api_answer *answer);

/* The handler of a request; exactly one function is set. `file` gets the body, a whole profile, as a file. */
struct post_handler {
    post_function *body;
    post_file_function *file;
};

struct post_worker;

#define POST_TOO_LARGE "the request is larger than 16 MiB: send several smaller ones"

/* Returns the maximum size in bytes of a body that the server reads to its end. */
uint64_t get_post_limit(const struct post_handler *handler);

/* Starts the worker thread, which reads the libraries of the profile at the first request. `profile_fd` and the data of
 * `options` must outlive the worker. Returns 0, or a negative errno value with `err` filled and `*out` NULL. */
int post_worker_start(struct post_worker **out, int profile_fd, const struct serve_options *options, struct error *err);

/* Cancels the current request, answers the queued requests with an error, and ends the thread. Afterwards, no
 * connection is suspended, and new posts get an error. */
void post_worker_end(struct post_worker *worker);

/* Frees the worker after post_worker_end(), and after all posts have been freed. Accepts NULL. */
void post_worker_free(struct post_worker *worker);

/* Changes the current profile: the next request reads the libraries of the new profile. Duplicates the descriptor. */
void post_worker_set_profile(struct post_worker *worker, int profile_fd);

struct post;

/* Creates a post when the headers of a request have arrived. Returns NULL if memory ran out. */
struct post *post_new(struct MHD_Connection *connection, const struct post_handler *handler);
void post_free(struct post *post);

/* Appends the next bytes of the body. Beyond API_BODY_MAX, drops the bytes, and the answer is an error. Beyond
 * get_post_limit(), returns false, and the caller closes the connection. */
bool post_append(struct post *post, const char *bytes, size_t size);

/* Returns the answer. Returns NULL until the answer is ready: the connection is then suspended, and libmicrohttpd calls
 * the handler again later. The caller may take ownership of the answer's text. */
struct api_answer *post_answer(struct post_worker *worker, struct post *post);
