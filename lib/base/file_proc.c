#include "base/file_proc.h"

#include "base/file_io.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

long proc_kernel_setting(const char *name, long if_unknown)
{
    char path[128], text[32];
    snprintf(path, sizeof(path), "/proc/sys/kernel/%s", name);
    return file_read_text(path, text, sizeof(text)) ? strtol(text, NULL, 10) : if_unknown;
}

uint64_t proc_namespace(const char *process, const char *kind)
{
    char path[64];
    struct stat info;
    snprintf(path, sizeof(path), "/proc/%s/ns/%s", process, kind);
    return stat(path, &info) == 0 ? (uint64_t)info.st_ino : 0;
}
