/*
 * The profile that the server shows: the first profile, or a newer profile that replaced it.
 */
#pragma once

#include "serve/server_state.h"

/* Opens a profile: reads the format and the size of the file. */
int served_profile_open(struct served_profile *profile, int fd, struct error *err);

/* Sets the samples that a live recording added since the previous profile. NULL: none. Duplicates the descriptor. */
void served_profile_set_added(struct served_profile *profile, const struct serve_added *added);

/* Shows another profile from now on, whose descriptors the server owns. */
void served_profile_replace(struct server *server, const struct served_profile *profile);
