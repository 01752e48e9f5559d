/*
 * Sends bytes to a web server: HTTP POST by libcurl, which is loaded on first use. Proxies come from the environment
 * (http_proxy, https_proxy, no_proxy). It follows no redirects: headers with credentials are for the server that the
 * user named.
 *
 * Threads: a client belongs to one at a time.
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct http_client;

/* Settings for all requests to a server; the texts are borrowed. */
struct http_server {
    const char *url;
    const char *const *headers; /* "Name: value" */
    size_t header_count;
    const char *ca_file;                     /* PEM: trusted authorities; NULL: the system's */
    const char *certificate_file, *key_file; /* PEM: the client's identity; NULL: none */
    uint32_t timeout_ms;                     /* limit of one whole request */
};

enum { HTTP_BODY_MAX = 16384, HTTP_TYPE_MAX = 128, HTTP_LOCATION_MAX = 1024 };

struct http_answer {
    long status;                      /* 0: no answer, and `problem` has the reason */
    uint64_t retry_after;             /* seconds, as the server requests; 0: none */
    char type[HTTP_TYPE_MAX];         /* Content-Type, or "" */
    char location[HTTP_LOCATION_MAX]; /* where a redirect leads; "" */
    char body[HTTP_BODY_MAX];         /* its first bytes: the rest is not read */
    size_t body_size;
    bool is_lasting; /* a retry cannot succeed, as with an untrusted certificate */
    struct error problem;
};

/* Whether libcurl is installed. */
bool http_client_is_possible(void);

/* -ENOSYS if libcurl is not installed. */
int http_client_new(struct http_client **out, struct error *err);
void http_client_free(struct http_client *client); /* accepts NULL */

/* Sends `size` bytes, and waits for the answer. The headers of the answer count, even if the connection ends before
 * the body does, or the body is endless: an accepted profile is not sent again. Returns 0, even without an answer,
 * or -ENOMEM. */
int http_client_post(struct http_client *client, const struct http_server *server, const void *bytes, size_t size,
                     struct http_answer *answer, struct error *err);
