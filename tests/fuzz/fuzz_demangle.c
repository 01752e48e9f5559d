/* Names of symbols, mangled or not, on a thread with the symbolizer's stack size. */
#include "symbol/demangle.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void *demangle_name(void *context)
{
    const char *name = context;
    struct arena arena = {0};
    const char *whole = demangle(name, &arena), *function = demangle_function(name, &arena);
    if (!whole || !function || !demangle_ada(name, &arena) || measure_base_name(name) > strlen(name))
        abort();
    arena_destroy(&arena);
    return NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *name = malloc(size + 1); /* ends where its allocation ends */
    if (!name)
        return 0;
    memcpy(name, data, size);
    name[size] = '\0';
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, DEMANGLE_STACK_SIZE);
    if (pthread_create(&thread, &attributes, demangle_name, name) == 0)
        pthread_join(thread, NULL);
    pthread_attr_destroy(&attributes);
    free(name);
    return 0;
}
