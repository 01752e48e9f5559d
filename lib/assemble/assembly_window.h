/*
 * A profile of one window of a recording (recording_window.h): where it begins and ends, and what the next one goes on
 * with.
 */
#pragma once

#include "assemble/assembly.h"
#include "assemble/recording_window.h"

/* Sets time 0 to that of all windows, so that waits that started before this window have their full length. */
int assembly_window_begin(struct assembly *assembly, struct error *err);

/* Sets the time range of the profile's thread in this window: the time after its last row belongs to the next window,
 * unless this is the last. `last`: ns, end of the recording so far. */
void assembly_window_cut(struct assembly *assembly, const struct replay_thread *from, uint64_t last,
                         struct thread *thread);

/* Advances to the next window. `end`: ns. */
void assembly_window_go_on(struct recording_window *window, struct assembly *assembly, uint64_t end);
