#include "record/record_result.h"

#include <stdarg.h>

void record_result_add_note(struct record_result *result, const char *format, ...)
{
    va_list args;
    if (result->note_count == PERF_NOTES)
        return;
    va_start(args, format);
    vsnprintf(result->notes[result->note_count++], PERF_NOTE_SIZE, format, args);
    va_end(args);
}
