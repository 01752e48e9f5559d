/*
 * Reads a profile of any supported format from a file, block by block, and decompresses gzip, xz and zstd files.
 */
#include "file/profile_file.h"

#include "os/file_io.h"
#include "import/import.h"
#include "file/unpack.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BLOCK_SIZE = 256 * 1024 };

/* State while a file is read. */
struct loading {
    struct import *import;
    struct unpacker *unpacker; /* if NULL, the file is not packed */
    const atomic_bool *stop;   /* may be NULL; true once the reader must stop */
    unsigned char block[BLOCK_SIZE], unpacked[BLOCK_SIZE];
};

static int unpack_block(struct loading *loading, size_t size, struct error *err)
{
    unpacker_feed(loading->unpacker, loading->block, size);
    for (;;) {
        size_t unpacked = 0;
        int code = unpacker_read(loading->unpacker, loading->unpacked, BLOCK_SIZE, &unpacked, err);
        if (code || unpacked == 0)
            return code;
        code = import_feed(loading->import, loading->unpacked, unpacked, err);
        if (code)
            return code;
    }
}

static int read_file(int fd, struct loading *loading, struct error *err)
{
    for (bool first = true;; first = false) {
        ssize_t size = file_read(fd, loading->block, BLOCK_SIZE);
        if (size < 0)
            return error_set(err, (int)-size, "cannot be read: %s", strerror((int)-size));
        if (loading->stop && *loading->stop)
            return error_set(err, ECANCELED, "canceled");
        if (size == 0)
            return loading->unpacker ? unpacker_end_input(loading->unpacker, err) : 0;
        enum unpacker_format format = first ? unpacker_format(loading->block, (size_t)size) : UNPACKER_NONE;
        if (format != UNPACKER_NONE && !(loading->unpacker = unpacker_new(format)))
            return error_no_memory(err);
        int code = loading->unpacker ? unpack_block(loading, (size_t)size, err)
                                     : import_feed(loading->import, loading->block, (size_t)size, err);
        if (code)
            return code;
    }
}

static int load_with_importer(struct loading *loading, int fd, struct profile *out, struct error *err)
{
    loading->import = import_new();
    if (loading->import)
        import_set_stop_flag(loading->import, loading->stop);
    int code = loading->import ? read_file(fd, loading, err) : error_no_memory(err);
    if (!code)
        code = import_finish(loading->import, out, err);
    unpacker_free(loading->unpacker);
    import_free(loading->import);
    return code;
}

/* Sets an error that names the tool that made a directory: a known file in the directory identifies the tool. */
static int set_directory_error(int fd, struct error *err)
{
    static const struct {
        const char *file, *reason;
    } tools[] = {
        {"form.template",
         "a trace of Instruments, which prof cannot read; 'samply record' on macOS makes a profile that prof can read"},
        {"sqlite-db",
         "a result of VTune, which prof cannot read; 'vtune -report callstacks -result-dir DIRECTORY' prints its stacks"},
        {"metadata",
         "a trace in the Common Trace Format (LTTng, barectf), which prof cannot read; 'babeltrace2 DIRECTORY' prints it"},
    };
    for (size_t i = 0; i < sizeof(tools) / sizeof(*tools); i++)
        if (faccessat(fd, tools[i].file, F_OK, 0) == 0)
            return error_set(err, EISDIR, "it is a directory with %s", tools[i].reason);
    return error_set(err, EISDIR, "it is a directory; give the profile file in it");
}

static int read_whole(int fd, const atomic_bool *stop, struct profile *out, struct error *err)
{
    struct stat status;
    if (fstat(fd, &status) == 0 && S_ISDIR(status.st_mode))
        return set_directory_error(fd, err);
    struct loading *loading = calloc(1, sizeof(*loading));
    if (!loading)
        return error_no_memory(err);
    loading->stop = stop;
    int code = load_with_importer(loading, fd, out, err);
    free(loading);
    return code;
}

int profile_load_fd(int fd, const atomic_bool *stop, struct profile *out, struct error *err)
{
    if (lseek(fd, 0, SEEK_SET) != 0)
        return error_set(err, errno, "cannot seek to its beginning: %s", strerror(errno));
    return read_whole(fd, stop, out, err);
}

int profile_load(const char *path, struct profile *out, struct error *err)
{
    bool is_stream = strcmp(path, "-") == 0;
    int fd = is_stream ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0) : open(path, O_RDONLY | O_CLOEXEC);
    if (is_stream)
        path = "the standard input";
    if (fd < 0)
        return error_set(err, errno, "cannot open %s: %s", path, strerror(errno));
    int code = read_whole(fd, NULL, out, err);
    if (code)
        error_prefix(err, code, "%s", path);
    close(fd);
    return code;
}
