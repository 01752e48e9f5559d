/*
 * Payloads of markers name strings and stacks by number. Where these are numbers of tables that a thread had for itself
 * (before versions 56 and 60), or of a table with equal strings in it, they are written anew for the tables of the
 * profile.
 */
#ifndef PROF_PROFILE_BUILD_PAYLOADS_H
#define PROF_PROFILE_BUILD_PAYLOADS_H

#include "profile/build_tables.h"

/* Before any payload is built: adds the strings that payloads name, so that they all are among the kept ones. */
int build_payload_strings(struct build *build);

/* The string (of the profile) of the payload of a thread's marker; PROFILE_NONE stays what it is. */
int build_payload(struct build *build, const struct raw_thread *thread, uint32_t *data);

void build_payloads_end(struct build *build);

#endif
