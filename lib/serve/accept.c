#include "serve/accept.h"

#include <strings.h>

/* Returns whether a coding has the weight 0 ("q=0", "q=0.", "q=0.000"), with which the client refuses the coding. */
static bool is_weight_zero(const char *parameters, size_t length)
{
    const char *end = parameters + length, *at = memchr(parameters, '=', length);
    if (!at)
        return false;
    for (at++; at < end; at++) {
        if (*at >= '1' && *at <= '9')
            return false;
    }
    return true;
}

bool accept_encoding_has(const char *header, const char *coding)
{
    bool all = false;
    while (header && *header) {
        header += strspn(header, " \t,");
        size_t item = strcspn(header, ","), name = strcspn(header, " \t;,");
        bool taken = !is_weight_zero(header + name, item - name);
        if (name == strlen(coding) && !strncasecmp(header, coding, name))
            return taken;
        if (name == 1 && *header == '*')
            all = taken;
        header += item;
    }
    return all;
}
