#include "sample/cpu_list.h"

#include "os/file_io.h"

#include <ctype.h>
#include <unistd.h>

enum { MAX_CPU = 65535 };

static bool parse_number(const char **text, uint32_t *number)
{
    if (!isdigit((unsigned char)**text))
        return false;
    char *end;
    unsigned long value = strtoul(*text, &end, 10);
    *text = end;
    *number = (uint32_t)value;
    return value <= MAX_CPU;
}

static bool parse_range(const char **text, uint32_t *first, uint32_t *last)
{
    if (!parse_number(text, first))
        return false;
    *last = *first;
    if (**text != '-')
        return true;
    ++*text;
    return parse_number(text, last) && *last >= *first;
}

int cpu_list_parse(const char *text, struct cpu_list *list, struct error *err)
{
    const char *at = text;
    for (;;) {
        uint32_t first, last;
        if (!parse_range(&at, &first, &last))
            return error_set(err, EINVAL, "'%s' is not a list of CPUs", text);
        for (uint32_t cpu = first; cpu <= last; cpu++) {
            if (!array_push(list, cpu))
                return error_no_memory(err);
        }
        if (*at == ',') {
            at++;
            continue;
        }
        if (*at == '\n')
            at++;
        return *at ? error_set(err, EINVAL, "'%s' is not a list of CPUs", text) : 0;
    }
}

static int count_online_cpus(struct cpu_list *list, struct error *err)
{
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    for (uint32_t cpu = 0; (long)cpu < count || cpu == 0; cpu++) /* sysconf() may fail, but one CPU is online */
        if (!array_push(list, cpu))
            return error_no_memory(err);
    return 0;
}

int cpu_list_read_online(struct cpu_list *list, struct error *err)
{
    char text[4096];
    if (!file_read_text("/sys/devices/system/cpu/online", text, sizeof(text)))
        return count_online_cpus(list, err);
    return cpu_list_parse(text, list, err);
}

bool cpu_list_has(const struct cpu_list *list, uint32_t cpu)
{
    for (size_t i = 0; list && i < list->length; i++)
        if (list->data[i] == cpu)
            return true;
    return !list;
}
