#include "profile/sniff.h"

#include "base/cursor.h"

enum { TAR_MAGIC_AT = 257 };

#define BPFTRACE                                                                                                       \
    "is output of bpftrace; stackcollapse-bpftrace.pl of FlameGraph converts it to collapsed stacks, which prof opens"
#define TRACY "is a trace of Tracy; 'tracy-csvexport FILE' lists its zones"
#define CTF   "is part of a trace in the Common Trace Format (LTTng, barectf); 'babeltrace2 DIRECTORY' prints it"

static const struct {
    const char *magic;
    size_t length;
    const char *reason; /* completes "the file ..." */
} MAGICS[] = {
    {"\x1f\x8b", 2, "is compressed twice with gzip; decompress it first (gunzip)"},
    {"PERFILE2", 8,
     "is a perf.data file of Linux perf; 'prof load FILE' shows it, and 'prof symbolicate -o PROFILE FILE' saves its profile"},
    {"PROFSPL", 7,
     "is an unsaved recording; 'prof load FILE' shows it, and 'prof symbolicate -o PROFILE FILE' saves its profile"},
    {"\xdc\xdf\x4aSLB", 6, "is a JSLB profile in another byte order"},
    {"\x28\xb5\x2f\xfd", 4, "is compressed with zstd; decompress it first (zstd -d)"},
    {"\xfd"
     "7zXZ",
     5, "is compressed with xz; decompress it first (unxz)"},
    {"BZh", 3, "is compressed with bzip2; decompress it first (bunzip2)"},
    {"PK\x03\x04", 4, "is a zip archive; unpack it first"},
    {"\x7f"
     "ELF",
     4, "is a program or library, not a profile; 'prof record' makes a profile of it"},
    {"SQLite format 3", 15, "is an SQLite database (Nsight Systems writes some), not a profile"},
    {"\xff\xfe", 2, "is UTF-16 text; a profile is UTF-8"},
    {"2ELIFREP", 8,
     "is a perf.data file of a machine with another byte order; run 'perf script' on that machine, and give prof its output"},
    {"FLR", 4,
     "is a recording of Java Flight Recorder; 'jfrconv -o collapsed FILE OUT' of async-profiler converts it to collapsed stacks, which prof opens"},
    {"SIMPLEPERF", 10,
     "is a report of simpleperf; run its report_sample.py on the perf.data file, and give prof the output"},
    {"memray", 7, "is an allocation profile of memray; 'memray flamegraph FILE' shows it"},
    {"v 1", 3,
     "is a recording of heaptrack; 'heaptrack_print -F OUT FILE' converts it to collapsed stacks, which prof opens"},
    {"\x04\x08", 2,
     "is data of Ruby's Marshal, as stackprof writes it; 'stackprof --stackcollapse FILE' converts it to collapsed stacks, which prof opens"},
    {"Attaching ", 10, BPFTRACE},
    {"CPU     ID", 10,
     "is output of dtrace; 'dtrace -x quiet' and stackcollapse.pl of FlameGraph make collapsed stacks, which prof opens"},
    {"Analysis of sampling ", 21,
     "is output of macOS's sample; stackcollapse-sample.awk of FlameGraph converts it to collapsed stacks, which prof opens"},
    {"go 1.", 5,
     "is an execution trace of Go; 'go tool trace -pprof=sync FILE' writes a pprof profile of its waits, which prof opens"},
    {"JAVA PROFILE 1.0", 16, "is a heap dump of Java, not a profile"},
    {"gmon", 4, "is a profile of gprof; 'gprof PROGRAM FILE' prints it"},
    {"desc: --", 8,
     "is a profile of Massif; 'ms_print FILE' prints it, and prof opens what DHAT writes (valgrind --tool=dhat)"},
    {"desc: I1 cache", 14, "is a profile of Cachegrind; 'cg_annotate FILE' prints it"},
    {"\x81rforpl\xff", 8, "is a raw profile of LLVM's instrumentation; 'llvm-profdata merge' reads it"},
    {"tZst", 4, TRACY},
    {"tlZ\4", 4, TRACY},
    {"tracy", 5, TRACY},
    {"\x10\0\x04"
     "FxT\x16",
     8, "is a Fuchsia trace, as magic-trace writes it; ui.perfetto.dev shows it"},
    {"\xc1\x1f\xfc\xc1", 4, CTF},
    {"\xc1\xfc\x1f\xc1", 4, CTF},
    {"\x57\x1d\xd1\x75", 4, CTF},
    {"/* CTF ", 7, CTF},
    {"%PDF-", 5, "is a PDF document, not a profile"},
    {"\x89PNG", 4, "is a PNG image, not a profile"},
};

static bool is_space(unsigned char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/* Detects two packets, each field 1 of a Perfetto trace. No other supported format begins with two packets. */
static bool is_perfetto(const unsigned char *bytes, size_t size)
{
    struct cursor trace = cursor_of(bytes, size);
    for (int i = 0; i < 2; i++) {
        if (cursor_u8(&trace) != (1 << 3 | 2) || trace.failed)
            return false;
        uint64_t length = cursor_uleb(&trace);
        if (length == 0 || (i == 0 && !cursor_bytes(&trace, length)))
            return false;
    }
    return !trace.failed;
}

/* Detects a map of bpftrace: "@[" or "@name[" and the first key, or "@name: " and the value. */
static bool is_bpftrace(const unsigned char *bytes, size_t size)
{
    size_t i = 1;
    while (i < size && ((bytes[i] >= '0' && bytes[i] <= '9') || (bytes[i] >= 'A' && bytes[i] <= 'Z') ||
                        bytes[i] == '_' || (bytes[i] >= 'a' && bytes[i] <= 'z')))
        i++;
    return size && bytes[0] == '@' && i + 1 < size && (bytes[i] == '[' || (bytes[i] == ':' && bytes[i + 1] == ' '));
}

/* Event Trace Log of Windows: buffers of whole KiB; the first one begins, behind its header of 72 bytes, with a system
 * event of a 32-bit or 64-bit machine (SYSTEM_TRACE_HEADER: version, type 1 or 2, flags 0xc0). */
static bool is_etl(const unsigned char *bytes, size_t size)
{
    enum { EVENT_AT = 72 };
    return size >= EVENT_AT + 4 && bytes[0] == 0 && bytes[1] % 4 == 0 && bytes[EVENT_AT + 1] == 0 &&
           (bytes[EVENT_AT + 2] == 1 || bytes[EVENT_AT + 2] == 2) && bytes[EVENT_AT + 3] == 0xc0;
}

const char *describe_foreign_file(const unsigned char *bytes, size_t size)
{
    if (size && *bytes == '{')
        return NULL;
    for (size_t i = 0; i < sizeof(MAGICS) / sizeof(*MAGICS); i++)
        if (size >= MAGICS[i].length && memcmp(bytes, MAGICS[i].magic, MAGICS[i].length) == 0)
            return MAGICS[i].reason;
    if (size >= TAR_MAGIC_AT + 5 && memcmp(bytes + TAR_MAGIC_AT, "ustar", 5) == 0)
        return "is a tar archive; unpack it first (tar -xf)";
    if (is_bpftrace(bytes, size))
        return BPFTRACE;
    if (is_etl(bytes, size))
        return "is a trace of Windows (ETW); 'samply import FILE' on Windows converts it to a profile, which prof opens";
    if (is_perfetto(bytes, size))
        return "is a Perfetto trace; 'traceconv json FILE OUT' converts it to a Chrome trace, which prof opens";
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
        return "is binary data of an unknown kind, not a profile";
    return "is text of an unknown kind, not a profile";
}
