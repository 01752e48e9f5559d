#include "record/own_vdso.h"

#include "record/proc_maps.h"

#include <sys/auxv.h>
#include <unistd.h>

static int use_own_vdso(void *context, const struct perf_mapping *mapping)
{
    if (mapping->start == getauxval(AT_SYSINFO_EHDR))
        *(struct perf_mapping *)context = *mapping;
    return 0;
}

const unsigned char *own_vdso(size_t *size)
{
    struct perf_mapping own = {0};
    proc_maps_read((uint32_t)getpid(), use_own_vdso, &own);
    *size = own.length;
    return (const unsigned char *)(uintptr_t)own.start;
}
