/*
 * The Accept-Encoding header: which compressions a client takes (RFC 9110, 12.5.3).
 */
#pragma once

#include "base/standard.h"

/* Returns whether `header` accepts `coding`: by name or by "*", with a weight above 0. `header` is NULL if the client
 * sent none. */
bool accept_encoding_has(const char *header, const char *coding);
