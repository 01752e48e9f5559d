/*
 * The kinds of locks. The system call of a wait is the same for a mutex, a condition variable and a thread to join
 * (futex). The functions that called it differ: pthread_mutex_lock, pthread_cond_wait, pthread_join. Each kind is a
 * subcategory of "Idle". Other waits in futex stay "Lock".
 */
#pragma once

#include "profile/intern.h"

/*
 * Returns the frame that replaces `frame`, the innermost frame of a wait in category "Idle": "mutex 0x10" in
 * subcategory "Mutex" instead of "lock 0x10" in "Lock". Returns `frame` for other waits, and if no function of
 * `caller`, the stack of the wait (PROFILE_NONE: none), names a kind. PROFILE_NONE if memory ran out.
 */
uint32_t wait_kinds_add_frame(struct interner *interner, uint32_t caller, uint32_t frame);
