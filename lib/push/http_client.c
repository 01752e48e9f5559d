/*
 * libcurl has a stable ABI, so option numbers never change (https://curl.se/libcurl/abi.html). prof repeats the numbers
 * here, and builds without curl/curl.h.
 */
#include "push/http_client.h"

#include "os/late_library.h"

enum curl_option {
    CURL_WRITE_DATA = 10001,
    CURL_URL = 10002,
    CURL_ERROR_BUFFER = 10010,
    CURL_WRITE_FUNCTION = 20011,
    CURL_POST_FIELDS = 10015,
    CURL_USER_AGENT = 10018,
    CURL_HTTP_HEADER = 10023,
    CURL_SSL_CERT = 10025,
    CURL_POST = 47,
    CURL_CA_INFO = 10065,
    CURL_SSL_KEY = 10087,
    CURL_NO_SIGNAL = 99,
    CURL_POST_FIELD_SIZE_LARGE = 30120,
    CURL_TIMEOUT_MS = 155,
};

enum curl_info {
    CURL_RESPONSE_CODE = 0x200002,
    CURL_CONTENT_TYPE = 0x100012,
    CURL_REDIRECT_URL = 0x10001f,
    CURL_RETRY_AFTER = 0x600039, /* 7.66 and later */
};

enum curl_code {
    CURL_OK = 0,
    CURL_UNSUPPORTED_PROTOCOL = 1,
    CURL_BAD_URL = 3,
    CURL_PARTIAL_FILE = 18,
    CURL_WRITE_ERROR = 23,
    CURL_OUT_OF_MEMORY = 27,
    CURL_TIMED_OUT = 28,
    CURL_RECEIVE_ERROR = 56,
    CURL_BAD_CERTIFICATE = 58,
    CURL_NOT_TRUSTED = 60,
    CURL_BAD_CA_FILE = 77,
};

enum { CURL_ERROR_SIZE = 256 };

typedef void CURL;
struct curl_slist;

CURL *curl_easy_init(void);
void curl_easy_cleanup(CURL *curl);
int curl_easy_setopt(CURL *curl, int option, ...);
int curl_easy_perform(CURL *curl);
int curl_easy_getinfo(CURL *curl, int info, ...);
void curl_easy_reset(CURL *curl);
const char *curl_easy_strerror(int code);
struct curl_slist *curl_slist_append(struct curl_slist *list, const char *text);
void curl_slist_free_all(struct curl_slist *list);

#define FUNCTIONS(use)                                                                                                 \
    use(curl_easy_init) use(curl_easy_cleanup) use(curl_easy_setopt) use(curl_easy_perform) use(curl_easy_getinfo)     \
        use(curl_easy_reset) use(curl_easy_strerror) use(curl_slist_append) use(curl_slist_free_all)

struct library {
    FUNCTIONS(LATE_FUNCTION)
};

struct http_client {
    struct library library;
    CURL *curl; /* keeps its connection open */
};

static bool load_library(struct library *library)
{
    static const char *const files[] = {"libcurl.so.4", "libcurl-gnutls.so.4", "libcurl-nss.so.4"};
    static const struct late_symbol symbols[] = {FUNCTIONS(LATE_SYMBOL)};
    for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
        if (late_library_load(files[i], symbols, sizeof(symbols) / sizeof(*symbols), library))
            return true;
    return false;
}

bool http_client_is_possible(void)
{
    struct library library;
    return load_library(&library);
}

int http_client_new(struct http_client **out, struct error *err)
{
    struct http_client *client = calloc(1, sizeof(*client));
    *out = NULL;
    if (!client)
        return error_no_memory(err);
    if (!load_library(&client->library)) {
        free(client);
        return error_set(err, ENOSYS, "cannot send profiles: libcurl is not installed (package libcurl4)");
    }
    client->curl = client->library.curl_easy_init();
    if (!client->curl) {
        free(client);
        return error_no_memory(err);
    }
    *out = client;
    return 0;
}

void http_client_free(struct http_client *client)
{
    if (!client)
        return;
    client->library.curl_easy_cleanup(client->curl);
    free(client);
}

/* Stores the body. When the buffer is full, returns less than the offered size, which ends the transfer. */
static size_t store_body(char *bytes, size_t size, size_t count, void *context)
{
    struct http_answer *answer = context;
    size_t room = sizeof(answer->body) - answer->body_size, taken = size * count < room ? size * count : room;
    memcpy(answer->body + answer->body_size, bytes, taken);
    answer->body_size += taken;
    return taken;
}

static struct curl_slist *make_headers(const struct library *library, const struct http_server *server)
{
    /* Sends the body at once, because some servers never answer to "Expect: 100-continue". */
    static const char *const own[] = {"Content-Type: application/x-protobuf", "Content-Encoding: gzip", "Expect:"};
    struct curl_slist *list = NULL;
    for (size_t i = 0; i < sizeof(own) / sizeof(*own) + server->header_count; i++) {
        const char *text = i < sizeof(own) / sizeof(*own) ? own[i] : server->headers[i - sizeof(own) / sizeof(*own)];
        struct curl_slist *longer = library->curl_slist_append(list, text);
        if (!longer) {
            library->curl_slist_free_all(list);
            return NULL;
        }
        list = longer;
    }
    return list;
}

static int set_options(const struct http_client *client, const struct http_server *server, const void *bytes,
                       size_t size)
{
    int (*set)(CURL *, int, ...) = client->library.curl_easy_setopt;
    CURL *curl = client->curl;
    int code = set(curl, CURL_URL, server->url);
    code = code ? code : set(curl, CURL_POST, 1L);
    code = code ? code : set(curl, CURL_POST_FIELDS, bytes);
    code = code ? code : set(curl, CURL_POST_FIELD_SIZE_LARGE, (int64_t)size);
    code = code ? code : set(curl, CURL_USER_AGENT, "prof/" PROF_VERSION);
    code = code ? code : set(curl, CURL_NO_SIGNAL, 1L);
    code = code ? code : set(curl, CURL_TIMEOUT_MS, (long)server->timeout_ms);
    code = code ? code : set(curl, CURL_WRITE_FUNCTION, store_body);
    if (!code && server->ca_file)
        code = set(curl, CURL_CA_INFO, server->ca_file);
    if (!code && server->certificate_file)
        code = set(curl, CURL_SSL_CERT, server->certificate_file);
    if (!code && server->key_file)
        code = set(curl, CURL_SSL_KEY, server->key_file);
    return code;
}

static bool is_permanent_failure(int code)
{
    return code == CURL_UNSUPPORTED_PROTOCOL || code == CURL_BAD_URL || code == CURL_BAD_CERTIFICATE ||
           code == CURL_NOT_TRUSTED || code == CURL_BAD_CA_FILE;
}

/* Truncates the server's text at the first unprintable character. */
static void store_location(struct http_answer *answer, const char *text)
{
    size_t length = 0;
    while (length + 1 < sizeof(answer->location) && text[length] > ' ' && text[length] < 0x7f)
        length++;
    memcpy(answer->location, text, length);
    answer->location[length] = '\0';
}

/* Returns false if the server has not answered yet; a 1xx status is not an answer. */
static bool store_answer(const struct http_client *client, struct http_answer *answer)
{
    const char *type = NULL, *location = NULL;
    int64_t seconds = 0;
    long status = 0;
    if (client->library.curl_easy_getinfo(client->curl, CURL_RESPONSE_CODE, &status) != CURL_OK || status < 200)
        return false;
    answer->status = status;
    if (client->library.curl_easy_getinfo(client->curl, CURL_RETRY_AFTER, &seconds) == CURL_OK && seconds > 0)
        answer->retry_after = (uint64_t)seconds;
    if (client->library.curl_easy_getinfo(client->curl, CURL_CONTENT_TYPE, &type) == CURL_OK && type)
        snprintf(answer->type, sizeof(answer->type), "%s", type);
    if (client->library.curl_easy_getinfo(client->curl, CURL_REDIRECT_URL, &location) == CURL_OK && location)
        store_location(answer, location);
    return true;
}

/* Returns whether the transfer failed after all headers of the answer had arrived. */
static bool is_body_error(int code)
{
    return code == CURL_PARTIAL_FILE || code == CURL_WRITE_ERROR || code == CURL_TIMED_OUT ||
           code == CURL_RECEIVE_ERROR;
}

int http_client_post(struct http_client *client, const struct http_server *server, const void *bytes, size_t size,
                     struct http_answer *answer, struct error *err)
{
    char reason[CURL_ERROR_SIZE] = "";
    const struct library *library = &client->library;
    answer->status = 0;
    answer->retry_after = 0;
    answer->type[0] = answer->location[0] = '\0';
    answer->body_size = 0;
    answer->is_lasting = false;
    answer->problem.text[0] = '\0';
    library->curl_easy_reset(client->curl);
    struct curl_slist *headers = make_headers(library, server);
    if (!headers)
        return error_no_memory(err);
    int code = set_options(client, server, bytes, size);
    code = code ? code : library->curl_easy_setopt(client->curl, CURL_HTTP_HEADER, headers);
    code = code ? code : library->curl_easy_setopt(client->curl, CURL_WRITE_DATA, answer);
    code = code ? code : library->curl_easy_setopt(client->curl, CURL_ERROR_BUFFER, reason);
    code = code ? code : library->curl_easy_perform(client->curl);
    bool is_answered = (code == CURL_OK || is_body_error(code)) && store_answer(client, answer);
    if (!is_answered) {
        answer->is_lasting = is_permanent_failure(code);
        error_set(&answer->problem, EIO, "%s", reason[0] ? reason : library->curl_easy_strerror(code));
    }
    library->curl_easy_reset(client->curl); /* drops curl's pointers to the caller's data */
    library->curl_slist_free_all(headers);
    return code == CURL_OUT_OF_MEMORY ? error_no_memory(err) : 0;
}
