/*
 * The address that prof prints, "http://127.0.0.1:3000/TOKEN/", and checks that a request was sent to this address. The
 * token is 120 bits, random or a keyed hash (lasting_address.h), so only clients that know the address get answers.
 */
#pragma once

#include "base/error.h"

enum { TOKEN_BITS = 120, TOKEN_LENGTH = TOKEN_BITS / 5 }; /* characters of the token, 5 bits each */

struct own_address {
    uint16_t port;
    char token[TOKEN_LENGTH + 1];
    char url[96];
};

/* Writes bits as a token. */
void own_address_write_token(char token[TOKEN_LENGTH + 1], const unsigned char bits[TOKEN_BITS / 8]);

/* Makes the address of a server on this port of 127.0.0.1 with this token, or with a new random token if `token` is
 * NULL. Fails with -EIO if the system has no random numbers. */
int own_address_init(struct own_address *own, uint16_t port, const char *token, struct error *err);

/* Returns whether a Host header names the server: 127.0.0.1 or localhost, and the port, which clients omit if it is 80.
 * Returns false for NULL (no header). */
bool own_address_accepts_host(const struct own_address *own, const char *host);

/* Returns whether an Origin header names the server. */
bool own_address_accepts_origin(const struct own_address *own, const char *origin);

/* Returns the part after the token in the path of a request ("" or "/..."), or NULL if the path does not begin with
 * the token. The comparison takes the same time for every wrong token. */
const char *own_address_find_path_after_token(const struct own_address *own, const char *path);
