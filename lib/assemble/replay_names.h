/*
 * Stores the names of wait objects, wakers and Python functions of a replay.
 */
#pragma once

#include "assemble/replay_state.h"

int replay_add_object(struct replay *replay, const struct spool_object *object, struct error *err);

/* Returns the name of a wait object or waker, or NULL if unknown. */
const char *replay_get_object(const struct replay *replay, uint32_t number);

int replay_add_python_function(struct replay *replay, const struct spool_python_function *record, struct error *err);
