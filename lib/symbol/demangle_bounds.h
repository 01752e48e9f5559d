/* Which mangled names libiberty demangles in bounded time and memory. For a hostile name of a hundred characters,
 * libiberty would run for years, or take gigabytes. */
#pragma once

#include "base/standard.h"

/* For C++. The caller must bound the output itself. */
bool demangle_cpp_is_bounded(const char *name, size_t length);

/* For D. */
bool demangle_d_is_bounded(const char *name, size_t length);
