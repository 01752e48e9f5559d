/*
 * Writes a profile or an export through os/file_output.h, and compresses it with gzip if the file name ends in ".gz".
 */
#include "file/profile_file.h"

#include "base/starts_with.h"
#include "os/file_io.h"
#include "os/file_output.h"
#include "file/gzip.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

struct profile_file {
    struct file_output output;
    struct gzip_packer *packer; /* NULL if plain */
};

static int write_to_file(void *context, const void *bytes, size_t size, struct error *err)
{
    struct profile_file *file = context;
    int code = file_write(file->output.fd, bytes, size);
    return code ? error_set(err, -code, "cannot write %s: %s", file->output.path, strerror(-code)) : 0;
}

struct byte_sink profile_file_make_sink(struct profile_file *file)
{
    return file->packer ? gzip_packer_make_sink(file->packer)
                        : (struct byte_sink){.write = write_to_file, .context = file};
}

static int add_packer(struct profile_file *file, struct error *err)
{
    return gzip_packer_new(&file->packer, (struct byte_sink){.write = write_to_file, .context = file}, err);
}

int profile_file_create(struct profile_file **out, const char *path, struct error *err)
{
    struct profile_file *file = *out = calloc(1, sizeof(*file));
    if (!file)
        return error_no_memory(err);
    int code = file_output_open(&file->output, path, 0600, err);
    if (!code && ends_with(path, ".gz"))
        code = add_packer(file, err);
    if (code) {
        profile_file_abandon(file);
        *out = NULL;
    }
    return code;
}

void profile_file_keep_old(struct profile_file *file, bool *has_old)
{
    file->output.keeps_old = has_old;
}

int profile_file_create_in_memory(struct profile_file **out, int *fd, struct error *err)
{
    *out = NULL;
    *fd = memfd_create("profile", MFD_CLOEXEC);
    if (*fd < 0)
        return error_set(err, errno, "cannot make a file in memory: %s", strerror(errno));
    struct profile_file *file = calloc(1, sizeof(*file));
    int code = 0;
    if (file) {
        file->output = (struct file_output){
            .fd = fcntl(*fd, F_DUPFD_CLOEXEC, 0), .path = strdup("a file in memory"), .directory = -1};
        code = file->output.fd < 0 ? error_set(err, errno, "cannot make a file in memory: %s", strerror(errno)) : 0;
    }
    if (!code)
        code = file && file->output.path ? add_packer(file, err) : error_no_memory(err);
    if (!code) {
        *out = file;
        return 0;
    }
    if (file)
        profile_file_abandon(file);
    close(*fd);
    *fd = -1;
    return code;
}

int profile_file_commit(struct profile_file *file, struct error *err)
{
    int code = file->packer ? gzip_packer_finish(file->packer, err) : 0;
    if (!code)
        code = file_output_commit(&file->output, err);
    profile_file_abandon(file);
    return code;
}

void profile_file_abandon(struct profile_file *file)
{
    gzip_packer_free(file->packer);
    file_output_close(&file->output);
    free(file);
}
