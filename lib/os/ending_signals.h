/* The signals with which a user ends a program. */
#pragma once

#include <signal.h>

/* Fills the set with SIGINT, SIGTERM and SIGHUP, except signals that this process ignores, as under nohup or in a
 * background job. */
void list_ending_signals(sigset_t *signals);
