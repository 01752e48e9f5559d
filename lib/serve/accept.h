/*
 * The Accept-Encoding header: which compressions a client takes (RFC 9110, 12.5.3).
 */
#pragma once

#include <stdbool.h>

/* Whether `header` (NULL: the client sent none) accepts `coding`: by name or by "*", with a weight above 0. */
bool accept_encoding_has(const char *header, const char *coding);
