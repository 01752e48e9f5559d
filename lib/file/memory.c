#include "file/profile_file.h"
#include "profile/write.h"

#include <unistd.h>

int profile_write_to_memory(const struct profile *profile, struct error *err)
{
    struct profile_file *file;
    int fd, code = profile_file_create_in_memory(&file, &fd, err);
    if (code)
        return code;
    struct byte_sink sink = profile_file_make_sink(file);
    code = profile_write(profile, NULL, profile_find_time_resolution(profile), &sink, err);
    if (code)
        profile_file_abandon(file);
    else
        code = profile_file_commit(file, err);
    if (code)
        close(fd);
    return code ? code : fd;
}
