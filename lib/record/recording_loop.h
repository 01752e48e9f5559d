/*
 * The loop of a recording: each round runs the source, the producers, requests and signals, and once a second a flush.
 *
 * Threads: all functions act on the thread that calls them, the recorder thread.
 */
#pragma once

#include "record/recording.h"

/* Records until the recording ends. Then the source has stopped, all producers have finished, and the thread has its
 * normal priority again. */
int recording_loop_run(struct recording *recording, struct error *err);

/* Reads pending signals. */
void recording_loop_handle_signals(struct recording *recording);
