/*
 * The same address for the same profile each time it is served, so that a reload of the page, a bookmark or a copied
 * address shows the same view again.
 *
 * The token of the address is a keyed hash of the profile file. The key is a secret of the user: 16 random bytes in the
 * file "secret" of the user's state directory, made once. Who does not have it cannot tell the token of any profile,
 * even with the profile and the tokens of others at hand.
 *
 * A profile is known by the content of its file: its size, its first and its last 64 KiB. The content, not device,
 * inode and time of change, because a copied, moved or unpacked file is still the same profile, a new recording under
 * the same name is another one, and standard input has content, too. Not all of it, so that gigabytes are not read once
 * more: the end of a gzip file is the checksum of the rest, and the beginning of a profile says to the ms when it was
 * recorded.
 *
 * The port is the first free one, so it depends on what else runs. For profiles that were served on another port than
 * the usual one the file "ports" of the same directory has that port.
 */
#pragma once

#include "base/error.h"
#include "serve/own_address.h"

#include <stdint.h>

struct lasting_address {
    char token[TOKEN_LENGTH + 1];
    uint16_t port; /* where it was served last, if that was not the usual port; else 0 */
    int directory;
};

/* Finds the address of the profile that is open for reading. `directory` is made if it is missing, and so is the
 * secret. Returns 0, or a negative errno value: -EPERM if others can write to the directory or read the secret. */
int lasting_address_open(struct lasting_address *lasting, const char *directory, int profile_fd, struct error *err);

/* Notes where the profile is served now. If that fails, the port may be another one next time. */
void lasting_address_keep_port(const struct lasting_address *lasting, uint16_t port, uint16_t usual_port);

void lasting_address_close(struct lasting_address *lasting);
