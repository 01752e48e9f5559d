/*
 * Reads a profile that is fed to it in pieces of any size, as they come from a file, from zlib or from the network.
 * See read.c for how.
 */
#ifndef PROF_PROFILE_READ_H
#define PROF_PROFILE_READ_H

#include "profile/profile.h"

struct profile_reader;

/* NULL if memory ran out. */
struct profile_reader *profile_reader_new(void);

/* The next bytes of the (uncompressed) JSON or JSLB. Once it has failed it fails always, with the same sentence. */
int profile_reader_feed(struct profile_reader *reader, const void *bytes, size_t size, struct error *err);

/* The end of the file: completes the tables, converts older versions, checks the profile and moves it to `out` (zeroed
 * by the caller, who owns it). The error names what the file is, or the path and byte where it broke. */
int profile_reader_finish(struct profile_reader *reader, struct profile *out, struct error *err);

void profile_reader_free(struct profile_reader *reader);

#endif
