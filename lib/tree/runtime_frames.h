/*
 * Frames of libc, the dynamic linker, the C++ library, Rust's standard library and the runtime of Go. A thread waits in
 * such frames, called by functions of the program, which a line of text names first.
 */
#pragma once

#include "profile/profile.h"

/* Returns whether the frames of a func are runtime frames. */
bool is_runtime_frame(const struct profile *profile, uint32_t func);

/* Returns whether the func belongs to an interpreter or a virtual machine, which runs the program's functions. */
bool is_interpreter_frame(const struct profile *profile, uint32_t func);

/* Returns whether programs and threads start in the func, before functions of the program: it is a runtime frame, a
 * frame of an interpreter, or `_start`. */
bool is_entry_frame(const struct profile *profile, uint32_t func);

/* Returns the number of innermost funcs of a path (root first) that are frames of a runtime or an interpreter. If all
 * funcs of the path are, only runtime frames count, or none. */
uint32_t count_runtime_frames(const struct profile *profile, const uint32_t *path, size_t length);
