#include "os/late_library.h"

#include <dlfcn.h>

bool late_library_provide(const char *library)
{
    return dlopen(library, RTLD_NOW | RTLD_GLOBAL) != NULL;
}

bool late_library_load(const char *library, const char *const *names, size_t count, void *functions)
{
    void *handle = dlopen(library, RTLD_NOW), *function = handle;
    for (size_t i = 0; i < count && function; i++) {
        function = dlsym(handle, names[i]);
        /* C does not convert an object pointer to a function pointer */
        memcpy((char *)functions + i * sizeof(function), &function, sizeof(function));
    }
    return function != NULL;
}
