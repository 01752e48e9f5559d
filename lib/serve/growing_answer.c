/*
 * The profile of a running recording: a profile without samples and stacks, and in the same JSON object the pieces of
 * these tables (profile/append.h). A page requests the next pieces with "addedNext" of the previous answer: the number
 * of the file of pieces, and an offset in the file.
 */
#include "serve/answer.h"

#include "os/file_io.h"

#include <fcntl.h>
#include <unistd.h>

/* A part of an answer: bytes of a file, or a text. */
struct part {
    int fd; /* -1: the part is `text` */
    uint64_t offset, size;
    char text[128];
};

enum { PARTS = 4, BLOCK = 65536 };

struct growing_answer {
    struct part parts[PARTS];
};

static ssize_t read_next_bytes(void *context, uint64_t at, char *buffer, size_t size)
{
    const struct growing_answer *answer = context;
    for (size_t i = 0; i < PARTS; i++) {
        const struct part *part = &answer->parts[i];
        if (at >= part->size) {
            at -= part->size;
            continue;
        }
        if (size > part->size - at)
            size = (size_t)(part->size - at);
        if (part->fd < 0) {
            memcpy(buffer, part->text + at, size);
            return (ssize_t)size;
        }
        ssize_t got = file_read_at(part->fd, buffer, size, part->offset + at);
        return got > 0 ? got : MHD_CONTENT_READER_END_WITH_ERROR;
    }
    return MHD_CONTENT_READER_END_OF_STREAM;
}

static void free_answer(void *context)
{
    struct growing_answer *answer = context;
    for (size_t i = 0; i < PARTS; i++)
        if (answer->parts[i].fd >= 0)
            close(answer->parts[i].fd);
    free(answer);
}

static const char *get_wanted_piece(const struct recipient *to)
{
    return microhttpd.MHD_lookup_connection_value(to->connection, MHD_GET_ARGUMENT_KIND, "added");
}

bool answer_asks_for_added(const struct recipient *to)
{
    return get_wanted_piece(to) != NULL;
}

/* Returns the offset of the first requested piece, or 0 if the page has no pieces of this file. */
static uint64_t parse_first_wanted_piece(const struct recipient *to, const struct served_profile *profile)
{
    uint64_t base, from;
    const char *wanted = get_wanted_piece(to);
    if (!wanted || sscanf(wanted, "%" SCNu64 "-%" SCNu64, &base, &from) != 2 || base != profile->added_base ||
        from > profile->added_end)
        return 0;
    return from;
}

enum MHD_Result answer_growing_profile(const struct recipient *to, const struct served_profile *profile)
{
    uint64_t from = parse_first_wanted_piece(to, profile), end = profile->added_end, size = 0;
    struct growing_answer *answer = calloc(1, sizeof(*answer));
    if (!answer)
        return MHD_NO;
    struct part *parts = answer->parts;
    parts[0] =
        (struct part){.fd = fcntl(profile->fd, F_DUPFD_CLOEXEC, 0), .size = profile->size - 1}; /* without its '}' */
    parts[1].fd = parts[3].fd = -1;
    parts[1].size =
        (uint64_t)snprintf(parts[1].text, sizeof(parts[1].text),
                           ",\"addedFrom\":%" PRIu64 ",\"addedNext\":\"%" PRIu64 "-%" PRIu64 "\",\"added\":[", from,
                           profile->added_base, end);
    parts[2] =
        (struct part){.fd = fcntl(profile->added_fd, F_DUPFD_CLOEXEC, 0), .offset = from + 1}; /* without its comma */
    parts[2].size = end > from ? end - from - 1 : 0;
    parts[3].size = (uint64_t)snprintf(parts[3].text, sizeof(parts[3].text), "]}");
    for (size_t i = 0; i < PARTS; i++)
        size += parts[i].size;
    struct MHD_Response *response = NULL;
    if (parts[0].fd >= 0 && parts[2].fd >= 0)
        response = microhttpd.MHD_create_response_from_callback(size, BLOCK, read_next_bytes, answer, free_answer);
    if (!response)
        free_answer(answer);
    return answer_with_profile(to, profile, response, size);
}
