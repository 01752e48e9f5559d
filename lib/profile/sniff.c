#include "profile/sniff.h"

#include <stdbool.h>
#include <string.h>

static const struct {
    const char *magic;
    size_t length;
    const char *reason; /* completes "the file ..." */
} MAGICS[] = {
    {"\x1f\x8b", 2, "is gzip inside gzip, or was not unpacked"},
    {"PERFILE2", 8,
     "is a perf.data file of Linux perf; 'prof load FILE' shows it, and 'prof symbolicate -o PROFILE FILE' saves its "
     "profile"},
    {"PROFSPL", 7,
     "holds a recording that was not saved as a profile yet; 'prof load FILE' shows it, and 'prof symbolicate -o "
     "PROFILE FILE' saves its profile"},
    {"\xdc\xdf\x4aSLB", 6, "is a JSLB profile written for another byte order"},
    {"\x28\xb5\x2f\xfd", 4, "is packed with zstd; unpack it first (zstd -d)"},
    {"\xfd"
     "7zXZ",
     5, "is packed with xz; unpack it first (unxz)"},
    {"BZh", 3, "is packed with bzip2; unpack it first (bunzip2)"},
    {"PK\x03\x04", 4, "is a zip archive; unpack it first"},
    {"\x7f"
     "ELF",
     4, "is a program or library, not a profile; 'prof record' makes a profile of it"},
    {"SQLite format 3", 15, "is an SQLite database, not a profile"},
    {"\xff\xfe", 2, "is UTF-16 text; a profile is UTF-8"},
};

static bool is_space(unsigned char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

const char *sniff_foreign(const unsigned char *bytes, size_t size)
{
    for (size_t i = 0; i < sizeof(MAGICS) / sizeof(*MAGICS); i++)
        if (size >= MAGICS[i].length && memcmp(bytes, MAGICS[i].magic, MAGICS[i].length) == 0)
            return MAGICS[i].reason;
    while (size && is_space(*bytes)) {
        bytes++;
        size--;
    }
    if (size == 0 || *bytes == '{')
        return NULL;
    if (*bytes == '<')
        return "is HTML or XML, perhaps the error page of a server, not a profile";
    if (*bytes == '[')
        return "is a JSON array, as Chrome's traces are, not a profile";
    if (*bytes < 0x20 || *bytes >= 0x7f)
        return "is binary data of no known kind, not a profile";
    return "is text of no known kind, not a profile";
}
