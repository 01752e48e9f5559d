/* The signals with which a user ends a program. */
#pragma once

#include <signal.h>

/* Fills the set with those of SIGINT, SIGTERM and SIGHUP that this process does not ignore, as under nohup or in a
 * background job. */
void list_ending_signals(sigset_t *signals);
