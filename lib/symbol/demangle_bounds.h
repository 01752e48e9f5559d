/* Which mangled names libiberty demangles in reasonable time and space; hostile ones of a hundred characters take it
 * years, or gigabytes. */
#ifndef PROF_SYMBOL_DEMANGLE_BOUNDS_H
#define PROF_SYMBOL_DEMANGLE_BOUNDS_H

#include <stdbool.h>
#include <stddef.h>

/* Of C++. What is printed has to be bounded while it is printed. */
bool demangle_cpp_is_bounded(const char *name, size_t length);

/* Of D. */
bool demangle_d_is_bounded(const char *name, size_t length);

#endif
