#include "cmd/push/push_options.h"

#include "cmd/common/ui.h"

#include "os/clock.h"
#include "os/file_io.h"

enum { HEADER_FILE_MAX = 1 << 16 };

static const uint64_t default_queue_size = UINT64_C(64) << 20, default_timeout = 10 * SECOND,
                      default_retry = 60 * SECOND;

/* ---- headers and labels ---- */

static int add_header(struct push_options *options, const char *text, struct error *err)
{
    int code = push_header_check(text, err);
    if (code)
        return code;
    char **header = array_push_zero(&options->headers);
    if (header)
        *header = strdup(text);
    return header && *header ? 0 : error_no_memory(err);
}

/* Reads a file with one header per line. Other users can read the command line, but not such a file. */
static int read_headers_file(struct push_options *options, const char *path, struct error *err)
{
    char *text, *rest;
    size_t size;
    int fd = file_open_in(-1, path);
    if (fd < 0)
        return error_set(err, -fd, "cannot read the headers in %s: %s", path, strerror(-fd));
    int code = file_load_text(fd, path, HEADER_FILE_MAX, &text, &size, err);
    if (code)
        return code;
    rest = text;
    for (char *line; !code && (line = strsep(&rest, "\n")) != NULL;) {
        line[strcspn(line, "\r")] = '\0';
        if (*line && *line != '#')
            code = add_header(options, line, err);
    }
    free(text);
    return code;
}

/* Adds or replaces the value of a key. With `is_default`, an existing value stays. */
static int add_label(struct push_options *options, const char *key, size_t key_length, const char *value,
                     bool is_default, struct error *err)
{
    size_t at = 0;
    while (at < options->labels.length && (strlen(options->labels.data[at].key) != key_length ||
                                           strncmp(options->labels.data[at].key, key, key_length) != 0))
        at++;
    if (at < options->labels.length && is_default)
        return 0;
    size_t size = key_length + strlen(value) + 2;
    char *both = malloc(size);
    if (!both)
        return error_no_memory(err);
    snprintf(both, size, "%.*s%c%s", (int)key_length, key, '\0', value);
    struct otlp_label label = {.key = both, .value = both + key_length + 1};
    if (at < options->labels.length) {
        free((char *)options->labels.data[at].key);
        options->labels.data[at] = label;
    } else if (!array_push(&options->labels, label)) {
        free(both);
        return error_no_memory(err);
    }
    return 0;
}

/* Overwrites `text` with `hidden`, truncated to the length of `text`. Every user can read the command line in a process
 * list, and prof saves the command line in profiles. */
static void hide_text(char *text, const char *hidden)
{
    size_t length = strlen(text);
    for (size_t i = 0; i < length; i++)
        text[i] = i < strlen(hidden) ? hidden[i] : '\0';
}

static int parse_header(const struct option_use *use)
{
    struct error err = {0};
    bool is_file = use->value[0] == '@';
    int code = is_file ? read_headers_file(use->group, use->value + 1, &err) : add_header(use->group, use->value, &err);
    if (!is_file)
        hide_text(use->value + strcspn(use->value, ":"), ": ***");
    return code ? ui_usage(use->command, "--header: %s", err.text) : 0;
}

static int parse_label(const struct option_use *use)
{
    struct error err = {0};
    const char *value = strchr(use->value, '=');
    if (!value || value == use->value || !value[1])
        return ui_usage(use->command, "--label takes key=value, such as service.name=shop, not '%s'", use->value);
    int code = add_label(use->group, use->value, (size_t)(value - use->value), value + 1, false, &err);
    return code ? ui_fail_with_error(&err) : 0;
}

const struct option_row push_option_rows[] = {
    {"label", 0, "KEY=VALUE", "add an attribute to the resource, such as service.name=shop; can be given several times",
     .parse = parse_label},
    {"header", 0, "HEADER",
     "add the header 'Name: value', or the headers in @FILE, to requests, for credentials; can be given several times",
     .parse = parse_header},
    {"timeout", 0, "TIME", "time limit of one request (10s)", OPTION(option_set_time, struct push_options, timeout)},
    {"retry-for", 0, "TIME", "retry for TIME while the server is down or busy (60s)",
     OPTION(option_set_time, struct push_options, retry)},
    {"queue", 0, "DIR", "directory of queued profiles (~/.local/state/prof/push)",
     OPTION_NAME(struct push_options, queue)},
    {"queue-size", 0, "SIZE", "size limit of the queue, beyond which prof drops the oldest profiles (64M)",
     OPTION(option_set_size, struct push_options, queue_size)},
    {.name = NULL},
};

bool push_options_are_set(const struct push_options *options)
{
    return options->headers.length || options->labels.length || options->timeout || options->retry || options->queue ||
           options->queue_size;
}

/* ---- the environment ---- */

/* The value of the environment variable for profiles, or else of the variable for all kinds of data, or NULL if
 * neither has one. */
static const char *read_variable(const char *name)
{
    char own[64];
    snprintf(own, sizeof(own), "OTEL_EXPORTER_OTLP_PROFILES_%s", name);
    const char *value = getenv(own);
    if (value && *value)
        return value;
    snprintf(own, sizeof(own), "OTEL_EXPORTER_OTLP_%s", name);
    value = getenv(own);
    return value && *value ? value : NULL;
}

static int add_header_pair(void *context, const char *key, const char *value, struct error *err)
{
    char text[4096];
    int length = snprintf(text, sizeof(text), "%s: %s", key, value);
    if (length < 0 || (size_t)length >= sizeof(text))
        return error_set(err, E2BIG, "a header is longer than %zu bytes", sizeof(text));
    return add_header(context, text, err);
}

static int add_attribute(void *context, const char *key, const char *value, struct error *err)
{
    return *value ? add_label(context, key, strlen(key), value, true, err) : 0;
}

static int read_environment(struct push_options *options)
{
    struct error err = {0};
    const char *headers = read_variable("HEADERS"), *timeout = read_variable("TIMEOUT"),
               *service = getenv("OTEL_SERVICE_NAME");
    const char *attributes = getenv("OTEL_RESOURCE_ATTRIBUTES");
    char *end = NULL;
    if (headers && !options->headers.length && push_list_split(headers, add_header_pair, options, &err))
        return ui_fail("OTEL_EXPORTER_OTLP_HEADERS: %s", err.text);
    if (service && *service && add_label(options, "service.name", strlen("service.name"), service, true, &err))
        return ui_fail_with_error(&err);
    if (attributes && push_list_split(attributes, add_attribute, options, &err))
        return ui_fail("OTEL_RESOURCE_ATTRIBUTES: %s", err.text);
    double ms = timeout && !options->timeout ? strtod(timeout, &end) : 0;
    if (end && !*end && ms >= 1 && ms < 1e9)
        options->timeout = (uint64_t)(ms * 1e6);
    options->server.ca_file = read_variable("CERTIFICATE");
    options->server.certificate_file = read_variable("CLIENT_CERTIFICATE");
    options->server.key_file = read_variable("CLIENT_KEY");
    return 0;
}

int push_options_resolve(struct push_options *options, char *address)
{
    struct error err = {0};
    const char *from = address;
    const char *own = getenv("OTEL_EXPORTER_OTLP_PROFILES_ENDPOINT");
    bool as_it_is = !address && own && *own;
    if (!from)
        from = read_variable("ENDPOINT");
    if (!from)
        return ui_usage(options->command,
                        "no address given; for example http://localhost:4318, or set OTEL_EXPORTER_OTLP_ENDPOINT");
    if (make_push_address(from, as_it_is, options->url, &err))
        return ui_usage(options->command, "%s", err.text);
    if (address)
        hide_text(address + strcspn(address, "?"), "?***");
    int status = read_environment(options);
    if (!options->timeout)
        options->timeout = default_timeout;
    if (!options->retry)
        options->retry = default_retry;
    if (!options->queue_size)
        options->queue_size = default_queue_size;
    options->server.url = options->url;
    options->server.headers = (const char *const *)options->headers.data;
    options->server.header_count = options->headers.length;
    options->server.timeout_ms = options->timeout < 1000000 * UINT64_C(1000000000)
                                     ? (uint32_t)((options->timeout + 999999) / 1000000)
                                     : 1000000000;
    return status;
}

void push_options_destroy(struct push_options *options)
{
    for (size_t i = 0; i < options->headers.length; i++)
        free(options->headers.data[i]);
    for (size_t i = 0; i < options->labels.length; i++)
        free((char *)options->labels.data[i].key);
    array_free(&options->headers);
    array_free(&options->labels);
}
