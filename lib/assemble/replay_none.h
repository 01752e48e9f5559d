/* The invalid index: in the tables of a recording (replay_state.h), it means none. */
#pragma once

#include "base/standard.h"

#define REPLAY_NONE UINT32_MAX
