#include "tree/wait_names.h"

#include "base/ascii.h"

const char *get_wait_reason_name(const struct engine *engine, uint32_t reason)
{
    const struct profile *profile = engine_get_profile(engine);
    if (reason == PROFILE_NONE)
        return "Not recorded";
    const struct category *idle = &profile->categories.data[engine_get_idle_category(engine)];
    return reason == 0 || reason >= idle->subcategories.length
               ? "Unknown"
               : profile_text(profile, idle->subcategories.data[reason]);
}

bool is_wait_reason_in(const struct engine *engine, uint32_t reason, const char *const *names)
{
    const char *name = get_wait_reason_name(engine, reason);
    while (*names && strcmp(*names, name) != 0)
        names++;
    return *names != NULL;
}

const char *get_wait_object_name(const struct engine *engine, const struct wait_group *group)
{
    const struct profile *profile = engine_get_profile(engine);
    return group->func == PROFILE_NONE ? "(not running)"
                                       : profile_text(profile, get_func_names(profile, group->func).name);
}

const char *get_wait_waker_name(const struct engine *engine, const struct wait_group *group)
{
    return group->waker == PROFILE_NONE ? "(not known)" : profile_text(engine_get_profile(engine), group->waker);
}

static size_t count_digits(const char *at)
{
    return strspn(at, "0123456789");
}

/* Returns the length of `open`, digits and `close` at the start of a text, or 0. */
static size_t measure_number(const char *at, const char *open, const char *close)
{
    size_t before = strlen(open), after = strlen(close);
    if (strncmp(at, open, before) != 0)
        return 0;
    size_t digits = count_digits(at + before);
    return digits && strncmp(at + before + digits, close, after) == 0 ? before + digits + after : 0;
}

static size_t measure_address(const char *at)
{
    static const char start[] = " 0x";
    size_t before = strlen(start);
    size_t digits = strncmp(at, start, before) == 0 ? strspn(at + before, "0123456789abcdefABCDEF") : 0;
    return digits ? before + digits : 0;
}

/* A client's socket has a port from Linux's default net.ipv4.ip_local_port_range, "[::1]:41234" or "127.0.0.1:41234".
 */
static size_t measure_port(const char *name, const char *at)
{
    enum { LEAST_PORT = 32768, PORT_DIGITS = 5 };
    bool follows_address = at > name && (is_digit(at[-1]) || at[-1] == ']');
    if (!follows_address || *at != ':' || count_digits(at + 1) != PORT_DIGITS || atoi(at + 1) < LEAST_PORT)
        return 0;
    return 1 + PORT_DIGITS;
}

void strip_wait_name(const char *name, char *out, size_t size)
{
    bool is_socket = strstr(name, "socket:[") != NULL;
    size_t length = 0;
    for (const char *at = name; *at && length + 1 < size;) {
        size_t skipped = measure_number(at, ":[", "]");
        if (!skipped)
            skipped = measure_number(at, " (", ")");
        if (!skipped)
            skipped = measure_address(at);
        if (!skipped && is_socket)
            skipped = measure_port(name, at);
        if (skipped)
            at += skipped;
        else
            out[length++] = *at++;
    }
    out[length] = '\0';
}
