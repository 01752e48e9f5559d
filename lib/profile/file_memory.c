#include "profile/file.h"

#include "base/file_io.h"
#include "profile/file_gzip.h"
#include "profile/write.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int write_to_memory(void *context, const void *bytes, size_t size, struct error *err)
{
    const int *fd = context;
    int code = file_write(*fd, bytes, size);
    return code ? error_set(err, -code, "cannot copy the profile to memory: %s", strerror(-code)) : 0;
}

static int pack(void *context, const void *bytes, size_t size, struct error *err)
{
    return gzip_packer_add(context, bytes, size, err);
}

static int write_packed(const struct profile *profile, int fd, struct error *err)
{
    struct gzip_packer *packer;
    int code = gzip_packer_new(&packer, (struct byte_sink){.write = write_to_memory, .context = &fd}, err);
    if (code)
        return code;
    struct byte_sink sink = {.write = pack, .context = packer};
    code = profile_write(profile, NULL, profile_time_resolution(profile), &sink, err);
    if (!code)
        code = gzip_packer_finish(packer, err);
    gzip_packer_free(packer);
    return code;
}

int profile_to_memory(const struct profile *profile, struct error *err)
{
    int fd = memfd_create("profile", MFD_CLOEXEC);
    if (fd < 0)
        return error_set(err, errno, "cannot copy the profile to memory: %s", strerror(errno));
    int code = write_packed(profile, fd, err);
    if (code)
        close(fd);
    return code ? code : fd;
}
