/*
 * A profile gets the same address each time that it is served, so a reload of the page, a bookmark or a copied address
 * shows the same view again. The token of the address is a keyed hash of the profile file. The key is a secret of the
 * user: 16 random bytes in the file "secret" of the user's state directory, created once. Without the key, an attacker
 * cannot compute the token of a profile, even with the profile and other tokens. The hash covers the size of the file,
 * and its first and last 64 KiB. The hash excludes device, inode and times: a copied, moved or decompressed file is the
 * same profile, a new recording under the same name is another profile, and standard input has no inode. The two ends
 * suffice, so prof does not read gigabytes again: a gzip file ends with the checksum of its contents, and a profile
 * begins with its start time in ms. prof serves on the first free port, which depends on other programs. The file
 * "ports" of the same directory has the port of each profile that was not served on the default port.
 */
#pragma once

#include "base/error.h"
#include "serve/own_address.h"

struct lasting_address {
    char token[TOKEN_LENGTH + 1];
    uint16_t port; /* the last port of this profile, if it differs from the default port; otherwise 0 */
    int directory;
};

/* Finds the address of the open profile. Creates `directory` and the secret if they are missing. Returns 0, or a
 * negative errno value: -EPERM if others can write to the directory or read the secret. */
int lasting_address_open(struct lasting_address *lasting, const char *directory, int profile_fd, struct error *err);

/* Stores the current port of the profile. If storing fails, the profile may get another port next time. */
void lasting_address_keep_port(const struct lasting_address *lasting, uint16_t port, uint16_t usual_port);

void lasting_address_close(struct lasting_address *lasting);
