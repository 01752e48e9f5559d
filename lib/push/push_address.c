#include "push/push_address.h"

#include "base/ascii.h"
#include "base/starts_with.h"

#include <strings.h>

static const char path_of_profiles[] = "/v1development/profiles";

static bool is_visible_ascii(const char *text)
{
    for (; *text; text++)
        if (*text <= ' ' || *text > '~')
            return false;
    return true;
}

/* Returns the length of "http://" or "https://" at the beginning of the URL, or 0. */
static size_t find_scheme_length(const char *url)
{
    static const char *const schemes[] = {"http://", "https://"};
    for (size_t i = 0; i < sizeof(schemes) / sizeof(*schemes); i++)
        if (strncasecmp(url, schemes[i], strlen(schemes[i])) == 0)
            return strlen(schemes[i]);
    return 0;
}

int make_push_address(const char *given, bool as_it_is, char url[PUSH_URL_MAX], struct error *err)
{
    size_t scheme = find_scheme_length(given), host = strcspn(given + scheme, "/?#");
    if (memchr(given + scheme, '@', host))
        return error_set(
            err, EINVAL,
            "the address of a server must not contain a user name or password; give --header 'Authorization: ...' or OTEL_EXPORTER_OTLP_HEADERS");
    if (!is_visible_ascii(given) || strchr(given, '#') || (scheme && !host))
        return error_set(err, EINVAL, "'%.200s' is not a server address; give one such as http://localhost:4318",
                         given);
    if (!scheme)
        return error_set(err, EINVAL, "'%.200s' is not a server address: it must begin with http:// or https://",
                         given);
    size_t base = scheme + host + strcspn(given + scheme + host, "?");
    const char *query = given + base;
    bool has_path = base > scheme + host;
    while (!as_it_is && base > scheme + host && given[base - 1] == '/')
        base--;
    const char *path = as_it_is                                        ? (has_path ? "" : "/")
                       : part_ends_with(given, base, path_of_profiles) ? ""
                                                                       : path_of_profiles;
    int length = snprintf(url, PUSH_URL_MAX, "%.*s%s%s", (int)base, given, path, query);
    if (length < 0 || length >= PUSH_URL_MAX)
        return error_set(err, ENAMETOOLONG, "the address of the server is too long");
    return 0;
}

int measure_url_without_query(const char *url)
{
    return (int)strcspn(url, "?");
}

bool push_address_is_of_grpc(const char *url)
{
    size_t scheme = find_scheme_length(url), host = strcspn(url + scheme, "/?");
    return part_ends_with(url + scheme, host, ":4317");
}

int push_header_check(const char *text, struct error *err)
{
    /* RFC 9110, token */
    static const char token[] = "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    static const char *const own[] = {"content-type", "content-encoding", "content-length", "transfer-encoding"};
    size_t name = strspn(text, token);
    if (!name || text[name] != ':' || strpbrk(text, "\r\n"))
        return error_set(err, EINVAL, "a header has the form 'Name: value', in one line");
    for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++)
        if (name == strlen(own[i]) && strncasecmp(text, own[i], name) == 0)
            return error_set(err, EINVAL, "prof sets the header %s itself", own[i]);
    return 0;
}

/* ---- lists ---- */

/* Decodes percent-encoded characters in place. */
static void decode_percent(char *text)
{
    char *out = text;
    for (; *text; text++) {
        int high = *text == '%' ? parse_hex_digit(text[1]) : -1, low = high >= 0 ? parse_hex_digit(text[2]) : -1;
        if (low >= 0 && (high || low)) {
            *out++ = (char)(high << 4 | low);
            text += 2;
        } else {
            *out++ = *text;
        }
    }
    *out = '\0';
}

static char *trim_spaces(char *text)
{
    text += strspn(text, " \t");
    size_t length = strlen(text);
    while (length && (text[length - 1] == ' ' || text[length - 1] == '\t'))
        length--;
    text[length] = '\0';
    return text;
}

int push_list_split(const char *list, int (*take)(void *context, const char *key, const char *value, struct error *err),
                    void *context, struct error *err)
{
    char *copy = strdup(list), *rest = copy;
    int code = copy ? 0 : error_no_memory(err);
    for (char *member; !code && (member = strsep(&rest, ",")) != NULL;) {
        char *value = strchr(member, '=');
        if (!*trim_spaces(member) && !value)
            continue;
        if (value)
            *value++ = '\0';
        char *key = trim_spaces(member);
        if (!value || !*key) {
            code = error_set(err, EINVAL, "an item of the list is not key=value");
            break;
        }
        value = trim_spaces(value);
        decode_percent(key);
        decode_percent(value);
        code = take(context, key, value, err);
    }
    free(copy);
    return code;
}
