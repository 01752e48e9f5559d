/* The index that stands for a missing one in the tables of a recording (replay_state.h). */
#pragma once

#include <stdint.h>

#define REPLAY_NONE UINT32_MAX
