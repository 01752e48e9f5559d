#include "serve/lasting_address.h"

#include "os/file_io.h"
#include "base/keyed_hash.h"
#include "os/directory.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OTHERS_HAVE_ACCESS = S_IRWXG | S_IRWXO };

static const char secret_name[] = "secret", ports_name[] = "ports";

/* ---- the secret ---- */

/* Checks the owner and the permissions of the secret file. Returns -ENOENT if it does not exist. */
static int check_secret(int directory, const char *path, struct error *err)
{
    struct stat info;
    if (fstatat(directory, secret_name, &info, AT_SYMLINK_NOFOLLOW) != 0)
        return error_set(err, errno, "cannot read %s/%s: %s", path, secret_name, strerror(errno));
    const char *wrong = !S_ISREG(info.st_mode)              ? "is not a file"
                        : info.st_uid != geteuid()          ? "belongs to another user"
                        : info.st_mode & OTHERS_HAVE_ACCESS ? "is readable for other users"
                        : info.st_size != KEYED_HASH_KEY    ? "is damaged"
                                                            : NULL;
    return wrong ? error_set(err, EPERM, "%s/%s %s; remove it", path, secret_name, wrong) : 0;
}

static int make_secret(int directory, const char *path, struct error *err)
{
    unsigned char bytes[KEYED_HASH_KEY];
    if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
        return error_set(err, EIO, "cannot get random numbers for the address: %s", strerror(errno));
    int code = file_directory_add(directory, secret_name, bytes, sizeof(bytes));
    explicit_bzero(bytes, sizeof(bytes));
    return code ? error_set(err, -code, "cannot write %s/%s: %s", path, secret_name, strerror(-code)) : 0;
}

/* Reads the secret from the file, also after make_secret(): another prof may have created the file at the same time. */
static int read_secret(unsigned char secret[KEYED_HASH_KEY], int directory, const char *path, struct error *err)
{
    int code = check_secret(directory, path, err);
    if (code == -ENOENT && (code = make_secret(directory, path, err)) == 0)
        code = check_secret(directory, path, err);
    if (code)
        return code;
    size_t size = 0;
    unsigned char *bytes = file_directory_load(directory, secret_name, KEYED_HASH_KEY, &size);
    bool is_whole = bytes && size == KEYED_HASH_KEY;
    if (is_whole)
        memcpy(secret, bytes, KEYED_HASH_KEY);
    free(bytes);
    return is_whole ? 0 : error_set(err, EIO, "cannot read %s/%s", path, secret_name);
}

/* ---- the token ---- */

struct identity {
    uint64_t size;
    unsigned char first[65536], last[65536];
};

static int read_identity(struct identity *identity, int fd, struct error *err)
{
    struct stat info;
    if (fstat(fd, &info) != 0)
        return error_set(err, errno, "cannot read the profile: %s", strerror(errno));
    identity->size = (uint64_t)info.st_size;
    uint64_t end = identity->size > sizeof(identity->last) ? identity->size - sizeof(identity->last) : 0;
    ssize_t got = file_read_at(fd, identity->first, sizeof(identity->first), 0);
    if (got >= 0)
        got = file_read_at(fd, identity->last, sizeof(identity->last), end);
    return got < 0 ? error_set(err, (int)-got, "cannot read the profile: %s", strerror((int)-got)) : 0;
}

static int make_token(struct lasting_address *lasting, const char *path, int profile_fd, struct error *err)
{
    unsigned char secret[KEYED_HASH_KEY], hash[KEYED_HASH_SIZE];
    struct identity *identity = calloc(1, sizeof(*identity));
    if (!identity)
        return error_no_memory(err);
    int code = read_secret(secret, lasting->directory, path, err);
    if (!code)
        code = read_identity(identity, profile_fd, err);
    if (!code) {
        compute_keyed_hash(hash, secret, identity, sizeof(*identity));
        own_address_write_token(lasting->token, hash);
    }
    explicit_bzero(secret, sizeof(secret));
    free(identity);
    return code;
}

/* ---- the port ---- */

enum { PORT_LENGTH = 5, LINE_LENGTH = TOKEN_LENGTH + 1 + PORT_LENGTH + 1, LINES_MAX = 64 };

/* Reads the file of lines "TOKEN PORT", the latest first. Returns NULL without lines. */
static char *load_ports(const struct lasting_address *lasting, size_t *size)
{
    char *lines = (char *)file_directory_load(lasting->directory, ports_name, (size_t)LINES_MAX * LINE_LENGTH, size);
    if (lines && *size % LINE_LENGTH == 0)
        return lines;
    free(lines);
    return NULL;
}

static bool has_token(const char *line, const struct lasting_address *lasting)
{
    return memcmp(line, lasting->token, TOKEN_LENGTH) == 0;
}

static uint16_t find_port(const struct lasting_address *lasting)
{
    size_t size = 0;
    char *lines = load_ports(lasting, &size);
    unsigned port = 0;
    for (size_t at = 0; lines && at < size; at += LINE_LENGTH) {
        char number[PORT_LENGTH + 1] = "";
        memcpy(number, lines + at + TOKEN_LENGTH + 1, PORT_LENGTH);
        if (has_token(lines + at, lasting) && sscanf(number, "%u", &port) == 1)
            break;
    }
    free(lines);
    return port <= UINT16_MAX ? (uint16_t)port : 0;
}

void lasting_address_keep_port(const struct lasting_address *lasting, uint16_t port, uint16_t usual_port)
{
    char kept[LINES_MAX * LINE_LENGTH + 1];
    if (port == lasting->port || (port == usual_port && !lasting->port))
        return;
    size_t size = 0, used = (size_t)snprintf(kept, sizeof(kept), "%s %*u\n", lasting->token, PORT_LENGTH, port);
    char *lines = load_ports(lasting, &size);
    for (size_t at = 0; lines && at < size && used < sizeof(kept) - 1; at += LINE_LENGTH) {
        if (has_token(lines + at, lasting))
            continue;
        memcpy(kept + used, lines + at, LINE_LENGTH);
        used += LINE_LENGTH;
    }
    free(lines);
    file_directory_save(lasting->directory, ports_name, kept, used);
}

/* ---- the address ---- */

int lasting_address_open(struct lasting_address *lasting, const char *directory, int profile_fd, struct error *err)
{
    lasting->directory = file_directory_open(directory, err);
    if (lasting->directory < 0)
        return lasting->directory;
    int code = make_token(lasting, directory, profile_fd, err);
    if (code)
        lasting_address_close(lasting);
    else
        lasting->port = find_port(lasting);
    return code;
}

void lasting_address_close(struct lasting_address *lasting)
{
    close(lasting->directory);
}
