/*
 * Parses the address of an OTLP server, headers and attributes, from options and environment variables
 * (https://opentelemetry.io/docs/specs/otel/protocol/exporter/).
 */
#pragma once

#include "base/error.h"
#include "base/text_buffer.h"

enum { PUSH_URL_MAX = 2048 };

/* Makes the URL of a server's profiles endpoint: "http://host:4318" and "http://host:4318/v1development/profiles" are
 * equivalent. With `as_it_is`, the address already is such a URL, and only an empty path becomes "/". Returns -EINVAL
 * for an invalid address, and for an address with a user name or password, because process lists, messages and the
 * queue would show both. */
int make_push_address(const char *given, bool as_it_is, char url[PUSH_URL_MAX], struct error *err);

/* Returns the length of a URL without its query. Messages omit the query, which may hold a secret. */
int measure_url_without_query(const char *url);

/* Whether the port is the port of OTLP over gRPC, which prof does not support. */
bool push_address_is_of_grpc(const char *url);

/* Checks a header in the form of --header, "Name: value". Returns -EINVAL for an invalid header, with an error that
 * does not show the value. */
int push_header_check(const char *text, struct error *err);

/* Splits a list "key=value,key=value" with percent-encoded values, and calls `take` with each decoded pair. Skips empty
 * items. Returns -EINVAL for an invalid item, with an error that does not show the value, or the error code of `take`.
 */
int push_list_split(const char *list, int (*take)(void *context, const char *key, const char *value, struct error *err),
                    void *context, struct error *err);
