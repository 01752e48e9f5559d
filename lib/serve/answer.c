/*
 * The server stores assets and profiles in compressed form. Clients that accept gzip (every browser) get the compressed
 * bytes of an asset. The server decompresses the profile while it sends the profile, because no browser decompresses as
 * fast (gunzip.c), and the connection is local. A request for `saved` gets the bytes of the file by sendfile(). All
 * answers have the same restrictions. The page may load scripts, styles and data from this server only, and compile
 * WebAssembly. No other page can frame the page. The browser does not send the page's address, which has the secret, as
 * a referrer.
 */
#include "serve/answer.h"

#include "file/gunzip.h"
#include "serve/accept.h"

#include <fcntl.h>
#include <unistd.h>

static const struct {
    const char *name, *value;
} restrictions[] = {
    {"X-Content-Type-Options", "nosniff"},
    {"Referrer-Policy", "no-referrer"},
    {"Cross-Origin-Opener-Policy", "same-origin"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
};

/* The sources that the served page may load: for prof's own page only its own parts; for another front-end, any file
 * in its directory. */
static const char own_policy[] =
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; connect-src 'self'; style-src "
    "'self'; "
    "img-src 'self' data: blob:; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
static const char other_policy[] =
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'wasm-unsafe-eval' blob:; worker-src 'self' blob:; "
    "style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self' blob:; "
    "base-uri 'self'; form-action 'none'; frame-ancestors 'none'";

/* The policy of the page "prof has stopped", the only page with an inline style; this page loads no files. */
static const char stopped_policy[] =
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'";
static const char stopped_page[] =
    "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
    "<meta name=\"color-scheme\" content=\"light dark\">\n<link rel=\"icon\" href=\"data:,\">\n"
    "<title>prof has stopped</title>\n"
    "<style>\n"
    ":root { --text: #1a2027; --quiet: #57616d; --surface: #ffffff; --raised: #f0f2f5; }\n"
    "@media (prefers-color-scheme: dark) {\n"
    "    :root { --text: #e3e7ec; --quiet: #9ba6b2; --surface: #15181c; --raised: #23282e; }\n"
    "}\n"
    "body { margin: 0; background: var(--surface); color: var(--text); font: 14px/1.5 system-ui, sans-serif; }\n"
    "main { max-width: 34em; margin: 20vh auto 0; padding: 0 24px; }\n"
    "h1 { margin: 0 0 8px; font-size: 20px; line-height: 1.3; }\n"
    "code { padding: 2px 4px; border-radius: 3px; background: var(--raised); font-family: ui-monospace, monospace; }\n"
    ".quiet { color: var(--quiet); }\n"
    "</style>\n"
    "<main>\n<h1>prof has stopped</h1>\n"
    "<p>Run <code>prof load FILE</code> again, with the file that was shown here. Then reload this page.</p>\n"
    "<p class=\"quiet\">The same file gets the same address again, and the address holds the view. If prof "
    "prints another address, open that one.</p>\n</main>\n";

static bool add_header(struct MHD_Response *response, const char *name, const char *value)
{
    return response && microhttpd.MHD_add_response_header(response, name, value) == MHD_YES;
}

static bool add_restrictions(struct MHD_Response *response, const struct recipient *to, const char *policy)
{
    bool added = add_header(response, "Content-Security-Policy", policy) &&
                 (!to->origin || (add_header(response, "Access-Control-Allow-Origin", to->origin) &&
                                  add_header(response, "Access-Control-Expose-Headers", "X-Uncompressed-Length") &&
                                  add_header(response, "Vary", "Origin")));
    for (size_t i = 0; i < sizeof(restrictions) / sizeof(*restrictions); i++)
        added = added && add_header(response, restrictions[i].name, restrictions[i].value);
    return added;
}

/* Queues a response. `complete` is false if adding a header failed. `response` is NULL if memory ran out. */
static enum MHD_Result send_with_policy(const struct recipient *to, unsigned status, struct MHD_Response *response,
                                        bool complete, const char *policy)
{
    enum MHD_Result result = MHD_NO;
    if (!response)
        return result;
    if (complete && add_restrictions(response, to, policy))
        result = microhttpd.MHD_queue_response(to->connection, status, response);
    microhttpd.MHD_destroy_response(response);
    return result;
}

static const char *get_security_policy(const struct recipient *to)
{
    return to->has_own_page ? own_policy : other_policy;
}

static enum MHD_Result send_and_free(const struct recipient *to, unsigned status, struct MHD_Response *response,
                                     bool complete)
{
    return send_with_policy(to, status, response, complete, get_security_policy(to));
}

static struct MHD_Response *make_text_response(const char *text)
{
    return microhttpd.MHD_create_response_from_buffer(strlen(text), (void *)(uintptr_t)text, MHD_RESPMEM_MUST_COPY);
}

/* Sends a text that clients must not cache. */
static enum MHD_Result send_text(const struct recipient *to, unsigned status, const char *text, const char *type,
                                 const char *policy, bool closes)
{
    struct MHD_Response *response = make_text_response(text);
    return send_with_policy(to, status, response,
                            add_header(response, "Content-Type", type) &&
                                add_header(response, "Cache-Control", "no-store") &&
                                (!closes || add_header(response, "Connection", "close")),
                            policy);
}

static const char plain_text[] = "text/plain; charset=utf-8";

enum MHD_Result answer_status(const struct recipient *to, unsigned status, const char *sentence)
{
    return send_text(to, status, sentence, plain_text, get_security_policy(to), false);
}

enum MHD_Result answer_and_close(const struct recipient *to, unsigned status, const char *sentence)
{
    return send_text(to, status, sentence, plain_text, get_security_policy(to), true);
}

static const char *get_request_header(const struct recipient *to, const char *name)
{
    return microhttpd.MHD_lookup_connection_value(to->connection, MHD_HEADER_KIND, name);
}

bool answer_can_be_page(const struct recipient *to)
{
    const char *accepted = get_request_header(to, "Accept");
    return accepted && strstr(accepted, "text/html");
}

enum MHD_Result answer_stopped(const struct recipient *to)
{
    return send_text(to, MHD_HTTP_NOT_FOUND, stopped_page, "text/html; charset=utf-8", stopped_policy, true);
}

enum MHD_Result answer_wrong_method(const struct recipient *to, const char *allowed)
{
    struct MHD_Response *response = make_text_response("This address does not accept the method of the request.\n");
    return send_and_free(to, MHD_HTTP_METHOD_NOT_ALLOWED, response, add_header(response, "Allow", allowed));
}

enum MHD_Result answer_redirect(const struct recipient *to, const char *path)
{
    struct MHD_Response *response = make_text_response("");
    return send_and_free(to, MHD_HTTP_PERMANENT_REDIRECT, response, add_header(response, "Location", path));
}

enum MHD_Result answer_preflight(const struct recipient *to, const char *method)
{
    struct MHD_Response *response = make_text_response("");
    return send_and_free(to, MHD_HTTP_NO_CONTENT, response,
                         add_header(response, "Access-Control-Allow-Methods", method) &&
                             add_header(response, "Access-Control-Allow-Headers", "Content-Type") &&
                             add_header(response, "Access-Control-Allow-Private-Network", "true") &&
                             add_header(response, "Access-Control-Max-Age", "600"));
}

enum MHD_Result answer_api(const struct recipient *to, struct api_answer *answer)
{
    struct MHD_Response *response =
        microhttpd.MHD_create_response_from_buffer(answer->size, answer->text, MHD_RESPMEM_MUST_FREE);
    if (response)
        *answer = (struct api_answer){.text = NULL};
    return send_and_free(to, MHD_HTTP_OK, response,
                         add_header(response, "Content-Type", "application/json") &&
                             add_header(response, "Cache-Control", "no-store"));
}

/* ---- decompression ---- */

struct unpacking {
    struct gunzip *gunzip;
    const unsigned char *memory; /* compressed bytes, or NULL (the file has them) */
    int fd;
    uint64_t at, size; /* position in the compressed bytes, and their total size */
    unsigned char input[65536];
};

/* Feeds the next compressed bytes to gunzip. Returns false if none are left. */
static bool feed_compressed(struct unpacking *unpacking)
{
    uint64_t left = unpacking->size - unpacking->at;
    if (left == 0)
        return false;
    if (unpacking->memory) {
        gunzip_feed(unpacking->gunzip, unpacking->memory + unpacking->at, (size_t)left);
        unpacking->at = unpacking->size;
        return true;
    }
    ssize_t got = pread(unpacking->fd, unpacking->input, sizeof(unpacking->input), (off_t)unpacking->at);
    if (got <= 0)
        return false;
    gunzip_feed(unpacking->gunzip, unpacking->input, (size_t)got);
    unpacking->at += (uint64_t)got;
    return true;
}

/* libmicrohttpd's reader: returns at most `max` decompressed bytes. After an error, the answer ends without its last
 * chunk, so the client detects the error. */
static ssize_t read_decompressed(void *context, uint64_t position, char *out, size_t max)
{
    (void)position;
    struct unpacking *unpacking = context;
    for (;;) {
        struct error err;
        size_t size = 0;
        if (gunzip_read(unpacking->gunzip, (unsigned char *)out, max, &size, &err))
            return MHD_CONTENT_READER_END_WITH_ERROR;
        if (size)
            return (ssize_t)size;
        if (!feed_compressed(unpacking))
            return gunzip_end_input(unpacking->gunzip, &err) ? MHD_CONTENT_READER_END_WITH_ERROR
                                                             : MHD_CONTENT_READER_END_OF_STREAM;
    }
}

static void decompression_free(void *context)
{
    struct unpacking *unpacking = context;
    gunzip_free(unpacking->gunzip);
    if (unpacking->fd >= 0)
        close(unpacking->fd);
    free(unpacking);
}

static struct MHD_Response *make_decompressed_response(const unsigned char *memory, int fd, uint64_t size)
{
    enum { BLOCK = 256 * 1024 };
    struct unpacking *unpacking = calloc(1, sizeof(*unpacking));
    if (!unpacking)
        return NULL;
    unpacking->memory = memory;
    unpacking->fd = fd < 0 ? fd
                           : fcntl(fd, F_DUPFD_CLOEXEC,
                                   0); /* the server may close its descriptor when it changes to another profile */
    unpacking->size = size;
    unpacking->gunzip = gunzip_new();
    struct MHD_Response *response = unpacking->gunzip && (fd < 0) == (unpacking->fd < 0)
                                        ? microhttpd.MHD_create_response_from_callback(
                                              MHD_SIZE_UNKNOWN, BLOCK, read_decompressed, unpacking, decompression_free)
                                        : NULL;
    if (!response)
        decompression_free(unpacking);
    return response;
}

/* ---- the two kinds of content ---- */

static bool takes_gzip(const struct recipient *to)
{
    return accept_encoding_has(get_request_header(to, "Accept-Encoding"), "gzip");
}

enum MHD_Result answer_asset(const struct recipient *to, const struct serve_asset *asset)
{
    const char *known = get_request_header(to, "If-None-Match");
    bool is_known = known && strstr(known, asset->etag);
    bool compressed = takes_gzip(to);
    struct MHD_Response *response;
    if (is_known)
        response = make_text_response("");
    else if (compressed)
        response = microhttpd.MHD_create_response_from_buffer(asset->gzip_size, (void *)(uintptr_t)asset->gzip,
                                                              MHD_RESPMEM_PERSISTENT);
    else
        response = make_decompressed_response(asset->gzip, -1, asset->gzip_size);
    bool complete = add_header(response, "ETag", asset->etag) && add_header(response, "Cache-Control", "no-cache") &&
                    add_header(response, "Vary", "Accept-Encoding");
    if (!is_known)
        complete = complete && add_header(response, "Content-Type", asset->type) &&
                   (!compressed || add_header(response, "Content-Encoding", "gzip"));
    return send_and_free(to, is_known ? MHD_HTTP_NOT_MODIFIED : MHD_HTTP_OK, response, complete);
}

enum MHD_Result answer_file(const struct recipient *to, int fd, uint64_t size, const char *type)
{
    struct MHD_Response *response = microhttpd.MHD_create_response_from_fd64(size, fd);
    if (!response)
        close(fd);
    return send_and_free(to, MHD_HTTP_OK, response,
                         add_header(response, "Content-Type", type) &&
                             add_header(response, "Cache-Control", "no-cache"));
}

/* A response owns the descriptor that it reads from. Duplicated descriptors share one file position; sendfile() and
 * pread() do not use it. */
static struct MHD_Response *make_file_response(int fd, uint64_t size)
{
    int own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (own < 0)
        return NULL;
    struct MHD_Response *response = microhttpd.MHD_create_response_from_fd64(size, own);
    if (!response)
        close(own);
    return response;
}

enum MHD_Result answer_profile(const struct recipient *to, const struct served_profile *profile)
{
    struct MHD_Response *response = profile->is_gzip ? make_decompressed_response(NULL, profile->fd, profile->size)
                                                     : make_file_response(profile->fd, profile->size);
    return answer_with_profile(to, profile, response, profile->json_size);
}

enum MHD_Result answer_with_profile(const struct recipient *to, const struct served_profile *profile,
                                    struct MHD_Response *response, uint64_t size)
{
    if (!response)
        return answer_status(to, MHD_HTTP_SERVICE_UNAVAILABLE, "The profile cannot be read now.\n");
    char json_size[24];
    snprintf(json_size, sizeof(json_size), "%" PRIu64, size);
    bool complete = add_header(response, "Content-Type", "application/json") &&
                    add_header(response, "Cache-Control", "no-store") &&
                    add_header(response, "X-Uncompressed-Length", json_size) &&
                    (!profile->is_live || add_header(response, "X-Live", "1"));
    return send_and_free(to, MHD_HTTP_OK, response, complete);
}

enum MHD_Result answer_text(const struct recipient *to, char *text, size_t length)
{
    struct MHD_Response *response = microhttpd.MHD_create_response_from_buffer(length, text, MHD_RESPMEM_MUST_FREE);
    if (!response)
        free(text);
    return send_and_free(to, MHD_HTTP_OK, response,
                         add_header(response, "Content-Type", plain_text) &&
                             add_header(response, "Cache-Control", "no-store"));
}

enum MHD_Result answer_events(const struct recipient *to, struct MHD_Response *response)
{
    return send_and_free(to, MHD_HTTP_OK, response,
                         add_header(response, "Content-Type", "text/event-stream") &&
                             add_header(response, "Cache-Control", "no-store"));
}

enum MHD_Result answer_saved(const struct recipient *to, const struct served_profile *profile)
{
    struct MHD_Response *response = make_file_response(profile->fd, profile->size);
    if (!response)
        return answer_status(to, MHD_HTTP_SERVICE_UNAVAILABLE, "The profile cannot be read now.\n");
    const char *type = profile->is_gzip   ? "application/gzip"
                       : profile->is_json ? "application/json"
                                          : "application/octet-stream";
    bool complete = add_header(response, "Content-Type", type) && add_header(response, "Cache-Control", "no-store");
    return send_and_free(to, MHD_HTTP_OK, response, complete);
}
