/*
 * The Accept-Encoding header: which compressions a client takes (RFC 9110, 12.5.3).
 */
#pragma once

#include <stdbool.h>

/* Whether `header` (NULL: the client sent none) takes `coding`: it is named, or all are by "*", and not with weight 0.
 */
bool accept_encoding_has(const char *header, const char *coding);
