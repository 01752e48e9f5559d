/*
 * Sends bytes to a web server by HTTP POST with libcurl, which is loaded on first use. Proxies come from the
 * environment (http_proxy, https_proxy, no_proxy). The client follows no redirects, because headers with credentials
 * are for the server that the user named.
 *
 * Threads: only one thread at a time may use a client.
 */
#pragma once

#include "base/error.h"

struct http_client;

/* Settings for all requests to a server; the texts are borrowed. */
struct http_server {
    const char *url;
    const char *const *headers; /* "Name: value" */
    size_t header_count;
    const char *ca_file;                     /* PEM file with trusted authorities, or NULL (the system's authorities) */
    const char *certificate_file, *key_file; /* PEM file with the client's identity, or NULL for none */
    uint32_t timeout_ms;                     /* limit of one whole request */
};

enum { HTTP_BODY_MAX = 16384, HTTP_TYPE_MAX = 128, HTTP_LOCATION_MAX = 1024 };

struct http_answer {
    long status;                      /* HTTP status, or 0 without an answer, and `problem` has the reason */
    uint64_t retry_after;             /* wait that the server requested, in seconds, or 0 */
    char type[HTTP_TYPE_MAX];         /* Content-Type, or "" */
    char location[HTTP_LOCATION_MAX]; /* target of a redirect, or "" */
    char body[HTTP_BODY_MAX];         /* first bytes of the body */
    size_t body_size;
    bool is_lasting; /* the failure is lasting, so no retry can succeed, for example after an untrusted certificate */
    struct error problem;
};

/* Whether libcurl is installed. */
bool http_client_is_possible(void);

/* Creates a client. Returns -ENOSYS if libcurl is not installed. */
int http_client_new(struct http_client **out, struct error *err);
void http_client_free(struct http_client *client); /* accepts NULL */

/* Sends `size` bytes, and waits for the answer. The status in the headers is final even if the connection ends within
 * the body, or the body is endless, so that an accepted profile is not sent twice. Returns 0, even without an answer,
 * or -ENOMEM. */
int http_client_post(struct http_client *client, const struct http_server *server, const void *bytes, size_t size,
                     struct http_answer *answer, struct error *err);
