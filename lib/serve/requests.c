/*
 * The routes below the token, and the conditions for an answer. A profile reveals much about a machine (paths,
 * programs, arguments), and every user of the machine and every open web page can reach a web server on localhost. So
 * the server answers a request only under all of these conditions:
 *
 *   - it arrives at 127.0.0.1: the server listens on no other address;
 *   - it has one Host header, with the printed address: not an attacker's name that resolves to 127.0.0.1 (DNS
 *     rebinding);
 *   - it has no Origin header, or the Origin header has the printed address: no other web page sent it. The
 *     exception is the front-end of --ui hosted: it may read the profile and symbols (CORS);
 *   - its path begins with the token, 120 bits that only the printed address has. The comparison takes constant
 *     time, and every other path gets the same answer, so nobody can guess the token step by step. A browser gets this
 *     answer as a page, which explains what to do if prof has stopped.
 *
 * Any other request gets an error, and the server closes its connection. The server limits the size of headers, and the
 * number and idle time of connections; the limits are strictest for connections that have not sent the token
 * (newcomers.h). The server writes no files, and no path of a request becomes a file name: the server searches the path
 * in the tables of assets and of routes. The exception is a directory with another front-end, see serve_directory.h.
 */
#include "serve/requests.h"

#include "base/json_write.h"
#include "serve/answer.h"
#include "serve/api_request.h"
#include "serve/page_template.h"
#include "serve/serve_directory.h"
#include "serve/served_profile.h"
#include "serve/symbol_api.h"
#include "symbol/debug_server.h"

#include <strings.h>

enum { IDLE_SECONDS = 60 }; /* until the server closes a silent connection that has sent the token */

/* ---- requests ---- */

/* Returns whether a page requests added samples of a recording that has ended: the page would mistake the saved profile
 * for added samples. */
static bool requests_ended_recording(const struct server *server, const struct recipient *to)
{
    return server->options.is_live && !server->profile.is_live && answer_asks_for_added(to);
}

static enum MHD_Result serve_profile(struct server *server, const struct recipient *to)
{
    pthread_mutex_lock(&server->profile_lock);
    enum MHD_Result result = requests_ended_recording(server, to)
                                 ? answer_status(to, MHD_HTTP_GONE, "The recording has ended.\n")
                             : server->profile.added_fd < 0 ? answer_profile(to, &server->profile)
                                                            : answer_growing_profile(to, &server->profile);
    pthread_mutex_unlock(&server->profile_lock);
    return result;
}

static enum MHD_Result serve_saved(struct server *server, const struct recipient *to)
{
    if (server->profile.added_fd >= 0)
        return serve_profile(server, to);
    pthread_mutex_lock(&server->profile_lock);
    enum MHD_Result result = answer_saved(to, &server->profile);
    pthread_mutex_unlock(&server->profile_lock);
    return result;
}

static enum MHD_Result serve_live(struct server *server, const struct recipient *to)
{
    if (!server->options.is_live)
        return answer_status(to, MHD_HTTP_NOT_FOUND, "The server has nothing at this address.\n");
    struct MHD_Response *response = live_add_page(&server->live, to->connection);
    if (!response)
        return answer_status(to, MHD_HTTP_SERVICE_UNAVAILABLE, "Too many pages follow this recording.\n");
    return answer_events(to, response);
}

/* Serves the template from which the page makes files that need no server. */
static enum MHD_Result serve_template(struct server *server, const struct recipient *to)
{
    struct text_buffer text = {0};
    struct error err = {0};
    if (to->origin || server->directory >= 0)
        return answer_status(to, MHD_HTTP_NOT_FOUND, "The server has nothing at this address.\n");
    if (append_page_template(server->options.assets, server->options.asset_count, &text, &err)) {
        array_free(&text);
        return answer_status(to, MHD_HTTP_SERVICE_UNAVAILABLE, err.text);
    }
    return answer_text(to, text.data, text.length);
}

/* Answers with the progress of downloads of debug files: {"servers", "file", "done", "total", "files"}.
 * "servers" has the addresses of the debuginfod servers, or "". */
static enum MHD_Result serve_names_progress(struct server *server, const struct recipient *to)
{
    struct debug_server *debug_server = server->options.search ? server->options.search->server : NULL;
    const char *servers = debug_server ? getenv("DEBUGINFOD_URLS") : NULL;
    char name[DEBUG_SERVER_NAME] = "";
    struct debug_server_progress progress = {.name = name};
    struct api_answer answer = {.text = NULL};
    struct byte_sink sink = api_answer_make_sink(&answer);
    struct json_writer json;
    struct error err;
    if (debug_server)
        progress = debug_server_get_progress(debug_server, name);
    json_writer_init(&json, &sink, &err);
    json_open(&json, '{');
    json_member_text(&json, "servers", servers ? servers : "");
    json_member_text(&json, "file", progress.ended ? "" : progress.name);
    json_member_unsigned(&json, "done", progress.done);
    json_member_unsigned(&json, "total", progress.total);
    json_member_unsigned(&json, "files", progress.files);
    json_close(&json, '}');
    if (json_writer_finish(&json))
        api_answer_error(&answer, &err);
    return answer_api(to, &answer);
}

/* The routes below the token, besides the assets; each takes GET, POST or both. For HEAD, libmicrohttpd runs GET
 * and sends no body. */
static const struct route {
    const char *path;
    enum MHD_Result (*get)(struct server *server, const struct recipient *to);
    struct post_handler post;
} routes[] = {
    {"profile.json", serve_profile, {0}},
    {"saved", serve_saved, {0}},
    {"template.html", serve_template, {0}},
    {"live", serve_live, {0}},
    {"live/control", NULL, {.body = symbol_api_answer_control}},
    {"symbolicate/v5", NULL, {.body = symbol_api_answer_symbolicate}},
    {"source/v1", NULL, {.body = symbol_api_answer_source}},
    {"asm/v1", NULL, {.body = symbol_api_answer_asm}},
    {"names", serve_names_progress, {.file = symbol_api_answer_names}},
};

/* Finds a route. Accepts two slashes, because the printed address ends with a slash and the Firefox Profiler appends
 * "/asm/v1". */
static const struct route *find_route(const char *path)
{
    path += strspn(path, "/");
    for (size_t i = 0; i < sizeof(routes) / sizeof(*routes); i++) {
        if (!strcmp(routes[i].path, path))
            return &routes[i];
    }
    return NULL;
}

static const struct serve_asset *find_asset(const struct server *server, const char *path)
{
    for (size_t i = 0; i < server->options.asset_count; i++) {
        if (!strcmp(server->options.assets[i].path, path))
            return &server->options.assets[i];
    }
    return NULL;
}

/* Returns whether a page of another server may read the answers of the routes. */
static bool is_allowed_page(const struct server *server, const char *origin)
{
    return server->options.page_origin && !strcmp(origin, server->options.page_origin);
}

static bool is_get(const char *method)
{
    return !strcmp(method, MHD_HTTP_METHOD_GET) || !strcmp(method, MHD_HTTP_METHOD_HEAD);
}

/* Returns whether the Content-Length exceeds the limit of the handler. */
static bool has_too_large_body(struct MHD_Connection *connection, uint64_t limit)
{
    const char *length = microhttpd.MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Content-Length");
    return length && strtoull(length, NULL, 10) > limit;
}

static enum MHD_Result refuse_body(const struct recipient *to)
{
    struct api_answer answer = {.text = NULL};
    api_answer_error(&answer, &(struct error){POST_TOO_LARGE});
    return answer_api(to, &answer);
}

/* Handles the first call for a POST: creates a post, so that the next calls collect the body. */
static enum MHD_Result create_post(const struct recipient *to, const struct route *route, struct post **request)
{
    if (has_too_large_body(to->connection, get_post_limit(&route->post)))
        return refuse_body(to);
    *request = post_new(to->connection, &route->post);
    return *request ? MHD_YES : MHD_NO;
}

static enum MHD_Result answer_route(struct server *server, const struct recipient *to, const struct route *route,
                                    const char *method, struct post **request)
{
    if (to->origin && !strcmp(method, MHD_HTTP_METHOD_OPTIONS))
        return answer_preflight(to, route->get ? MHD_HTTP_METHOD_GET : MHD_HTTP_METHOD_POST);
    bool takes_post = route->post.body || route->post.file;
    if (takes_post && !strcmp(method, MHD_HTTP_METHOD_POST))
        return create_post(to, route, request);
    if (!route->get)
        return answer_wrong_method(to, MHD_HTTP_METHOD_POST);
    return is_get(method) ? route->get(server, to)
                          : answer_wrong_method(to, takes_post ? "GET, HEAD, POST" : "GET, HEAD");
}

static enum MHD_Result answer_in_directory(const struct server *server, const struct recipient *to, const char *path)
{
    uint64_t size = 0;
    int fd = served_directory_open_file(server->directory, *path ? path : "index.html", &size);
    if (fd < 0)
        return answer_status(to, MHD_HTTP_NOT_FOUND, "The server has nothing at this address.\n");
    return answer_file(to, fd, size, get_content_type(*path ? path : "index.html"));
}

static enum MHD_Result redirect_to_page(const struct server *server, const struct recipient *to)
{
    char page[TOKEN_LENGTH + 3];
    snprintf(page, sizeof(page), "/%s/", server->own.token);
    return answer_redirect(to, page);
}

/* `path` is the part after the token. */
static enum MHD_Result answer_path(struct server *server, const struct recipient *to, const char *path,
                                   const char *method, struct post **request)
{
    if (*path++ == '\0')
        return redirect_to_page(server, to);
    const struct route *route = find_route(path);
    if (route && (!route->post.file || (server->directory < 0 && !server->options.page_origin)))
        return answer_route(server, to, route, method, request);
    if (to->origin)
        return answer_status(to, MHD_HTTP_NOT_FOUND, "The server has nothing at this address.\n");
    const struct serve_asset *asset = server->directory < 0 ? find_asset(server, path) : NULL;
    if (!asset && server->directory < 0)
        return answer_status(to, MHD_HTTP_NOT_FOUND, "The server has nothing at this address.\n");
    if (!is_get(method))
        return answer_wrong_method(to, "GET, HEAD");
    return asset ? answer_asset(to, asset) : answer_in_directory(server, to, path);
}

static struct recipient find_recipient(const struct server *server, struct MHD_Connection *connection)
{
    const char *origin = microhttpd.MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Origin");
    return (struct recipient){connection,
                              origin && is_allowed_page(server, origin) ? server->options.page_origin : NULL,
                              server->directory < 0};
}

/* Counts the occurrences of a header in a request. */
struct header_count {
    const char *name;
    unsigned count;
};

static enum MHD_Result count_header(void *context, enum MHD_ValueKind kind, const char *name, const char *value)
{
    (void)kind, (void)value;
    struct header_count *header = context;
    header->count += !strcasecmp(name, header->name);
    return MHD_YES;
}

/* Gets the value of a header, or NULL if the request lacks the header. Returns false for repeated headers, because
 * programs use different ones. */
static bool get_single_header(struct MHD_Connection *connection, const char *name, const char **value)
{
    struct header_count header = {.name = name};
    microhttpd.MHD_get_connection_values(connection, MHD_HEADER_KIND, count_header, &header);
    *value = microhttpd.MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
    return header.count <= 1;
}

/* A refusal of a request whose headers name a wrong sender or destination. */
struct refusal {
    unsigned status; /* 0: the request is allowed */
    const char *sentence;
};

static struct refusal check_request(const struct server *server, const struct recipient *to, const char *url)
{
    const char *host, *origin;
    if (!get_single_header(to->connection, "Host", &host) || !get_single_header(to->connection, "Origin", &origin))
        return (struct refusal){MHD_HTTP_BAD_REQUEST, "A request has one Host and at most one Origin.\n"};
    if (!own_address_accepts_host(&server->own, host))
        return (struct refusal){MHD_HTTP_FORBIDDEN, "This server answers only to the address that prof printed.\n"};
    if (origin && !to->origin && !own_address_accepts_origin(&server->own, origin))
        return (struct refusal){MHD_HTTP_FORBIDDEN, "This server does not answer other web pages.\n"};
    if (!own_address_find_path_after_token(&server->own, url))
        return (struct refusal){MHD_HTTP_NOT_FOUND, "The server has nothing at this address.\n"};
    return (struct refusal){0};
}

static enum MHD_Result continue_post(struct server *server, const struct recipient *to, struct post *post,
                                     const char *body, size_t *body_size)
{
    if (*body_size) {
        bool has_room = post_append(post, body, *body_size);
        *body_size = 0;
        return has_room ? MHD_YES : MHD_NO;
    }
    struct api_answer *answer = post_answer(server->worker, post);
    if (!answer || !answer->has_file)
        return answer ? answer_api(to, answer) : MHD_YES;
    struct served_profile profile = {.fd = -1, .added_fd = -1};
    struct error ignored;
    if (served_profile_open(&profile, answer->file, &ignored))
        return MHD_NO;
    if (!answer->is_own)
        return answer_profile(to, &profile);
    answer->has_file = false;
    if (server->profile.is_live)
        close(profile.fd);
    else
        served_profile_replace(server, &profile);
    return answer_api(to, answer);
}

/* State between the calls for one request. */
struct request {
    struct post *post; /* if NULL, the request has no body to read */
    uint64_t dropped;  /* dropped bytes of the body */
};

static enum MHD_Result drop_body(struct request *request, size_t *size)
{
    request->dropped += *size;
    *size = 0;
    return request->dropped <= API_BODY_READ_MAX ? MHD_YES : MHD_NO;
}

/* After an answer in the first call, libmicrohttpd closes a connection that may send a body. So the handler answers a
 * GET in the last call, and drops the body. */
enum MHD_Result requests_handle(void *context, struct MHD_Connection *connection, const char *url, const char *method,
                                const char *version, const char *body, size_t *body_size, void **kept)
{
    (void)version;
    struct server *server = context;
    struct request *request = *kept;
    struct recipient to = find_recipient(server, connection);
    if (!request) {
        struct refusal refusal = check_request(server, &to, url);
        if (refusal.status == MHD_HTTP_NOT_FOUND && is_get(method) && answer_can_be_page(&to))
            return answer_stopped(&to);
        if (refusal.status)
            return answer_and_close(&to, refusal.status, refusal.sentence);
        newcomers_mark_served(&server->newcomers, connection, IDLE_SECONDS);
        *kept = request = calloc(1, sizeof(*request));
        if (!request)
            return MHD_NO;
        if (is_get(method))
            return MHD_YES;
    }
    if (request->post)
        return continue_post(server, &to, request->post, body, body_size);
    if (*body_size)
        return drop_body(request, body_size);
    return answer_path(server, &to, own_address_find_path_after_token(&server->own, url), method, &request->post);
}

void requests_free(void *context, struct MHD_Connection *connection, void **kept,
                   enum MHD_RequestTerminationCode reason)
{
    (void)context, (void)connection, (void)reason;
    struct request *request = *kept;
    if (request)
        post_free(request->post);
    free(request);
    *kept = NULL;
}
