/*
 * Destinations of profiles: the address of an OTLP server, headers, attributes, as users and the environment give them
 * (https://opentelemetry.io/docs/specs/otel/protocol/exporter/).
 */
#pragma once

#include "base/error.h"
#include "base/text_buffer.h"

#include <stdbool.h>
#include <stddef.h>

enum { PUSH_URL_MAX = 2048 };

/* The address for profiles, from that of a server: "http://host:4318" and "http://host:4318/v1development/profiles"
 * mean the same. `as_it_is`, for complete addresses of profiles, only adds the "/" of an empty path. -EINVAL for an
 * invalid address, and for one with a user name and password: it would be visible in process lists, messages and the
 * queue. */
int push_address(const char *given, bool as_it_is, char url[PUSH_URL_MAX], struct error *err);

/* The length of an address in messages: without its query, which may hold a secret. */
int push_address_shown(const char *url);

/* Whether the port is that of OTLP over gRPC, which prof does not support. */
bool push_address_is_of_grpc(const char *url);

/* A header as --header has it, "Name: value". -EINVAL; the error does not show the value. */
int push_header_check(const char *text, struct error *err);

/* Splits a list of the environment, "key=value,key=value", whose values are percent-encoded: `take` gets each pair
 * decoded. Skips empty members. -EINVAL for an invalid member (the error does not show its value), or the failure of
 * `take`. */
int push_list_split(const char *list, int (*take)(void *context, const char *key, const char *value, struct error *err),
                    void *context, struct error *err);
