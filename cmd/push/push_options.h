/*
 * Where profiles are pushed, with what, and how long that is tried: the options that `prof push` and `prof record
 * --push` share, and the variables of the environment that other senders of OpenTelemetry have, too. An option goes
 * before a variable.
 */
#pragma once

#include "cmd/common/options.h"

#include "base/array.h"
#include "export/otlp_export.h"
#include "push/http_client.h"
#include "push/push_address.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

extern const struct option_row push_option_rows[];

/* Zero it, but for `command`. */
struct push_options {
    const char *command;             /* whose options these are, for messages */
    const char *queue;               /* the directory; NULL: that of this user */
    uint64_t queue_size;             /* bytes; 0: the default */
    uint64_t timeout, retry;         /* ns; 0: the default. See --timeout, --retry-for */
    ARRAY(char *) headers;           /* "Name: value" */
    ARRAY(struct otlp_label) labels; /* each key once; key and value are one block, at `key` */

    /* After push_options_resolve(): */
    char url[PUSH_URL_MAX];
    struct http_server server;
};

/* True if one of the options is set. */
bool push_options_are_set(const struct push_options *options);

/* Adds the options of the environment. `address`: from the command line, where this hides its query, which may hold a
 * secret; NULL: the address in the environment. Returns 0 or the exit status after a message. */
int push_options_resolve(struct push_options *options, char *address);

void push_options_destroy(struct push_options *options);
