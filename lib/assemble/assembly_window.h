/*
 * The time range of a window's profile (recording_window.h), and the state for the next window.
 */
#pragma once

#include "assemble/assembly.h"
#include "assemble/recording_window.h"

/* Sets time 0 of the profile, which is the same in all windows. So waits that started before this window have their
 * full length. */
int assembly_window_begin(struct assembly *assembly, struct error *err);

/* Sets the time range of the profile's thread in this window. The time after the last row of a thread belongs to the
 * next window, unless the window is the last window. `last`: ns, end of the recording so far. */
void assembly_window_set_range(struct assembly *assembly, const struct replay_thread *from, uint64_t last,
                               struct thread *thread);

/* Advances to the next window. `end`: ns. */
void assembly_window_move_to(struct recording_window *window, struct assembly *assembly, uint64_t end);
