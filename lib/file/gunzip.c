/*
 * ISA-L takes a quarter of zlib's time, and checks the checksum of each member. isal_read_gzip_header() reads the
 * header of a member, because isal_inflate() drops the first part of a header that is split between two pieces.
 */
#include "file/gunzip.h"

#include "os/vector_registers.h"

#include <isa-l/igzip_lib.h>

enum { MAGIC = 0x1f, MAGIC_SECOND = 0x8b };

struct gunzip {
    struct inflate_state state;
    struct isal_gzip_header header;
    uint64_t unpacked;
    bool in_header;
    bool padding; /* no member follows the last one */
};

static void begin_member(struct gunzip *gunzip)
{
    isal_inflate_reset(&gunzip->state);
    isal_gzip_header_init(&gunzip->header);
    gunzip->state.crc_flag = ISAL_GZIP_NO_HDR_VER; /* still checks the checksum at the end of a member */
    gunzip->in_header = true;
}

struct gunzip *gunzip_new(void)
{
    struct gunzip *gunzip = calloc(1, sizeof(*gunzip));
    if (!gunzip)
        return NULL;
    isal_inflate_init(&gunzip->state);
    begin_member(gunzip);
    return gunzip;
}

void gunzip_free(struct gunzip *gunzip)
{
    free(gunzip);
}

bool gunzip_begins(const unsigned char *bytes, size_t size)
{
    return size >= 2 && bytes[0] == MAGIC && bytes[1] == MAGIC_SECOND;
}

void gunzip_feed(struct gunzip *gunzip, const unsigned char *bytes, size_t size)
{
    gunzip->state.next_in = (unsigned char *)(uintptr_t)bytes;
    gunzip->state.avail_in = (uint32_t)size;
}

static bool is_between_members(const struct gunzip *gunzip)
{
    return gunzip->state.block_state == ISAL_BLOCK_FINISH;
}

/* Continues with the header or the data of a member. Returns a code of ISA-L. */
static int inflate_input(struct gunzip *gunzip)
{
    if (!gunzip->in_header) {
        int code = isal_inflate(&gunzip->state);
        vector_registers_release();
        return code;
    }
    int code = isal_read_gzip_header(&gunzip->state, &gunzip->header);
    gunzip->in_header = code == ISAL_END_INPUT;
    return gunzip->in_header ? ISAL_DECOMP_OK : code;
}

static const char *describe_problem(int code)
{
    switch (code) {
    case ISAL_INVALID_WRAPPER:
        return "a gzip header is missing";
    case ISAL_UNSUPPORTED_METHOD:
        return "an unknown method of compression";
    case ISAL_INVALID_LOOKBACK:
        return "a distance too far back";
    case ISAL_INCORRECT_CHECKSUM:
        return "a wrong checksum";
    default:
        return "a bad block";
    }
}

int gunzip_read(struct gunzip *gunzip, unsigned char *out, size_t room, size_t *size, struct error *err)
{
    struct inflate_state *state = &gunzip->state;
    state->next_out = out;
    state->avail_out = room < UINT32_MAX ? (uint32_t)room : UINT32_MAX;
    uint32_t before = state->avail_out;
    do {
        if (is_between_members(gunzip)) {
            gunzip->padding = gunzip->padding || (state->avail_in && *state->next_in != MAGIC);
            if (gunzip->padding || state->avail_in == 0)
                break;
            begin_member(gunzip);
        }
        int code = inflate_input(gunzip);
        if (code != ISAL_DECOMP_OK)
            return error_set(err, EINVAL, "the gzip data is damaged after %llu unpacked bytes (%s)",
                             (unsigned long long)gunzip->unpacked, describe_problem(code));
    } while (state->avail_out == before && state->avail_in);
    *size = before - state->avail_out;
    gunzip->unpacked += *size;
    return 0;
}

int gunzip_end_input(const struct gunzip *gunzip, struct error *err)
{
    if (is_between_members(gunzip))
        return 0;
    return error_set(err, EINVAL, "the file is truncated: its gzip data ends early, after %llu unpacked bytes",
                     (unsigned long long)gunzip->unpacked);
}
