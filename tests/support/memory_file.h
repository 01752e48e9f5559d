/* Bytes as an open file, for readers that want one. */
#pragma once

#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* The caller closes it. */
static inline int memory_file(const void *bytes, size_t size)
{
    int fd = memfd_create("bytes", MFD_CLOEXEC);
    if (fd < 0 || write(fd, bytes, size) != (ssize_t)size)
        abort();
    return fd;
}
