/*
 * The names of wait objects, wakers and Python functions of a replay.
 */
#pragma once

#include "assemble/replay_state.h"

#include <stdint.h>

/* Takes SPOOL_OBJECT. */
int replay_add_object(struct replay *replay, const struct spool_event *event, struct error *err);

/* Returns the name of a wait object or waker; NULL: unknown. */
const char *replay_object(const struct replay *replay, uint32_t number);

/* Takes SPOOL_PYTHON_FUNCTION. */
int replay_add_python_function(struct replay *replay, const struct spool_event *event, struct error *err);
