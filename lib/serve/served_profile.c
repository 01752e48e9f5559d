#include "serve/served_profile.h"

#include "file/gunzip.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

void served_profile_set_added(struct served_profile *profile, const struct serve_added *added)
{
    profile->added_fd = added ? fcntl(added->fd, F_DUPFD_CLOEXEC, 0) : -1;
    profile->added_base = added ? added->base : 0;
    profile->added_end = added ? added->end : 0;
}

int served_profile_open(struct served_profile *profile, int fd, struct error *err)
{
    enum { GZIP_SMALLEST = 18, GZIP_SIZE_FIELD = 4 }; /* RFC 1952 */
    profile->fd = fd;
    struct stat info;
    if (fstat(fd, &info) != 0)
        return error_set(err, errno, "cannot read the profile: %s", strerror(errno));
    if (!S_ISREG(info.st_mode))
        return error_set(err, EINVAL, "cannot serve the profile: it is not a file");
    profile->size = profile->json_size = (uint64_t)info.st_size;
    unsigned char magic[2], end[GZIP_SIZE_FIELD];
    profile->is_gzip = profile->size >= GZIP_SMALLEST && pread(fd, magic, sizeof(magic), 0) == sizeof(magic) &&
                       gunzip_begins(magic, sizeof(magic));
    profile->is_json =
        !profile->is_gzip && pread(fd, magic, 1, 0) == 1 && magic[0] != 0xdc; /* the first byte of JSLB */
    if (profile->is_gzip && pread(fd, end, sizeof(end), info.st_size - GZIP_SIZE_FIELD) == sizeof(end))
        profile->json_size = (uint64_t)end[0] | (uint64_t)end[1] << 8 | (uint64_t)end[2] << 16 | (uint64_t)end[3] << 24;
    return 0;
}

void served_profile_replace(struct server *server, const struct served_profile *profile)
{
    pthread_mutex_lock(&server->profile_lock);
    int before = server->profile.fd, added_before = server->profile.added_fd;
    server->profile = *profile;
    pthread_mutex_unlock(&server->profile_lock);
    if (added_before >= 0)
        close(added_before);
    post_worker_set_profile(server->worker, profile->fd);
    if (server->has_changed) /* the worker may still read the first profile, so that stays open */
        close(before);
    else
        server->first_fd = before;
    server->has_changed = true;
}
