/* The build name has its own file, because make compiles this file again after each commit. */
#include "cmd/common/build_name.h"

#ifndef PROF_COMMIT
#define PROF_COMMIT "unknown" /* for tools that read this file without its flags */
#endif

#ifdef PROF_PORTABLE
#define KIND ", portable"
#else
#define KIND ""
#endif

const char build_name[] = PROF_VERSION " (" PROF_COMMIT KIND ")";
