/* The index that stands for none in the tables of a recording (replay_state.h). */
#pragma once

#include "base/standard.h"

#define REPLAY_NONE UINT32_MAX
