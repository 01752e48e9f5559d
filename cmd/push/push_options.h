/*
 * The options that `prof push` and `prof record --push` share: server address, headers, labels, timeouts and the queue.
 * The defaults of the options come from the environment variables of OpenTelemetry (OTEL_EXPORTER_OTLP_...).
 */
#pragma once

#include "cmd/common/options.h"

#include "base/array.h"
#include "export/otlp_export.h"
#include "push/http_client.h"
#include "push/push_address.h"

extern const struct option_row push_option_rows[];

/* The caller zeroes all members except `command`. */
struct push_options {
    const char *command;             /* command name for messages */
    const char *queue;               /* directory of the queue, or NULL (the directory of this user) */
    uint64_t queue_size;             /* bytes, or 0 (the default) */
    uint64_t timeout, retry;         /* ns, or 0 (the default): --timeout and --retry-for */
    ARRAY(char *) headers;           /* "Name: value" */
    ARRAY(struct otlp_label) labels; /* distinct keys; key and value share one allocation, at `key` */

    /* Valid after push_options_resolve(): */
    char url[PUSH_URL_MAX];
    struct http_server server;
};

/* Whether the command line has any push option. */
bool push_options_are_set(const struct push_options *options);

/* Adds the settings of the environment. `address` is the URL on the command line; this function overwrites the query of
 * the URL there, because the query may hold a secret. With NULL, the URL comes from the environment. Returns 0, or the
 * exit status after printing a message. */
int push_options_resolve(struct push_options *options, char *address);

void push_options_destroy(struct push_options *options);
