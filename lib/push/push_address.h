/*
 * Where profiles go, and what goes with them: the address of an OTLP server, headers, attributes, as users and the
 * environment give them (https://opentelemetry.io/docs/specs/otel/protocol/exporter/).
 */
#pragma once

#include "base/error.h"
#include "base/text_buffer.h"

#include <stdbool.h>
#include <stddef.h>

enum { PUSH_URL_MAX = 2048 };

/* The address for profiles, from that of a server: "http://host:4318" and "http://host:4318/v1development/profiles"
 * mean the same. With `as_it_is`, which is for addresses that are of profiles already, nothing is added but the "/" of
 * an empty path. -EINVAL for what is not an address, also one with a user name and password: it would be in lists of
 * processes, in messages and in the queue. */
int push_address(const char *given, bool as_it_is, char url[PUSH_URL_MAX], struct error *err);

/* How much of an address is for messages: without its query, which may hold a secret. */
int push_address_shown(const char *url);

/* Whether it is the port of OTLP over gRPC, which prof does not speak. */
bool push_address_is_of_grpc(const char *url);

/* A header as --header has it, "Name: value". -EINVAL; the error does not show the value. */
int push_header_check(const char *text, struct error *err);

/* Splits a list of the environment, "key=value,key=value", whose values are percent-encoded: `take` gets each pair
 * decoded. Empty members are passed over. -EINVAL for a member that is none (the error does not show its value), or
 * what `take` returns. */
int push_list_split(const char *list, int (*take)(void *context, const char *key, const char *value, struct error *err),
                    void *context, struct error *err);
