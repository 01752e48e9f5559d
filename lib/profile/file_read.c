/*
 * A profile from a file: unpacked on the way if it begins like gzip, and fed to the reader block by block.
 */
#include "profile/file.h"

#include "base/file_io.h"
#include "profile/read.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum { BLOCK_SIZE = 256 * 1024, DETECT_GZIP = 16, WINDOW_BITS = 15 };

struct unpacker {
    z_stream stream;
    bool open, ended; /* ended: at the end of a gzip member */
    unsigned char out[BLOCK_SIZE];
};

static int unpack(struct unpacker *unpacker, unsigned char *bytes, size_t size, struct profile_reader *reader,
                  struct error *err)
{
    z_stream *stream = &unpacker->stream;
    stream->next_in = bytes;
    stream->avail_in = (uInt)size;
    while (stream->avail_in) {
        if (unpacker->ended) {
            if (*stream->next_in != 0x1f) /* padding after the last member, which gzip ignores too */
                return 0;
            inflateReset(stream);
            unpacker->ended = false;
        }
        do {
            stream->next_out = unpacker->out;
            stream->avail_out = sizeof(unpacker->out);
            int status = inflate(stream, Z_NO_FLUSH);
            if (status == Z_MEM_ERROR)
                return error_no_memory(err);
            if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR)
                return error_set(err, EINVAL, "the gzip data is damaged after %lu unpacked bytes (%s)",
                                 stream->total_out, stream->msg ? stream->msg : "bad block");
            int rc = profile_reader_feed(reader, unpacker->out, sizeof(unpacker->out) - stream->avail_out, err);
            if (rc)
                return rc;
            unpacker->ended = status == Z_STREAM_END;
        } while (!unpacker->ended && (stream->avail_in || stream->avail_out == 0));
    }
    return 0;
}

static bool is_gzip(const unsigned char *block, ssize_t size)
{
    return size >= 2 && block[0] == 0x1f && block[1] == 0x8b;
}

static int feed_file(int fd, struct profile_reader *reader, struct unpacker *unpacker, unsigned char *block,
                     struct error *err)
{
    bool first = true;
    for (;; first = false) {
        ssize_t size = file_read(fd, block, BLOCK_SIZE);
        if (size < 0)
            return error_set(err, (int)-size, "cannot be read: %s", strerror((int)-size));
        if (size == 0)
            break;
        if (first && is_gzip(block, size)) {
            unpacker->open = inflateInit2(&unpacker->stream, WINDOW_BITS + DETECT_GZIP) == Z_OK;
            if (!unpacker->open)
                return error_no_memory(err);
        }
        int rc = unpacker->open ? unpack(unpacker, block, (size_t)size, reader, err)
                                : profile_reader_feed(reader, block, (size_t)size, err);
        if (rc)
            return rc;
    }
    if (unpacker->open && !unpacker->ended)
        return error_set(err, EINVAL, "the file is cut off: its gzip data ends early, after %lu unpacked bytes",
                         unpacker->stream.total_out);
    return 0;
}

static int read_whole(int fd, struct profile *out, struct error *err)
{
    struct profile_reader *reader = profile_reader_new();
    struct unpacker *unpacker = calloc(1, sizeof(*unpacker));
    unsigned char *block = malloc(BLOCK_SIZE);
    int rc = reader && unpacker && block ? feed_file(fd, reader, unpacker, block, err) : error_no_memory(err);
    if (!rc)
        rc = profile_reader_finish(reader, out, err);
    if (unpacker && unpacker->open)
        inflateEnd(&unpacker->stream);
    free(block);
    free(unpacker);
    profile_reader_free(reader);
    return rc;
}

int profile_load_fd(int fd, struct profile *out, struct error *err)
{
    if (lseek(fd, 0, SEEK_SET) != 0)
        return error_set(err, errno, "cannot go to its beginning: %s", strerror(errno));
    return read_whole(fd, out, err);
}

int profile_load(const char *path, struct profile *out, struct error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return error_set(err, errno, "cannot open %s: %s", path, strerror(errno));
    struct stat status;
    int rc = 0;
    if (fstat(fd, &status) == 0 && S_ISDIR(status.st_mode))
        rc = error_set(err, EISDIR, "%s is a folder; give the profile file in it", path);
    else if ((rc = read_whole(fd, out, err)) != 0)
        error_prefix(err, rc, "%s", path);
    close(fd);
    return rc;
}
