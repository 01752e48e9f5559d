#include "os/late_library.h"

#ifdef PROF_PORTABLE

bool late_library_load_for_others(const char *library)
{
    (void)library;
    return true;
}

bool late_library_load(const char *library, const struct late_symbol *symbols, size_t count, void *functions)
{
    (void)library;
    for (size_t i = 0; i < count; i++)
        memcpy((char *)functions + i * sizeof(void *), &symbols[i].linked, sizeof(void *));
    return true;
}

#else

#include <dlfcn.h>

bool late_library_load_for_others(const char *library)
{
    return dlopen(library, RTLD_NOW | RTLD_GLOBAL) != NULL;
}

bool late_library_load(const char *library, const struct late_symbol *symbols, size_t count, void *functions)
{
    void *handle = dlopen(library, RTLD_NOW), *function = handle;
    for (size_t i = 0; i < count && function; i++) {
        function = dlsym(handle, symbols[i].name);
        /* C does not convert an object pointer to a function pointer */
        memcpy((char *)functions + i * sizeof(function), &function, sizeof(function));
    }
    return function != NULL;
}

#endif
