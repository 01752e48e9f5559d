/*
 * Contents and headers of HTTP answers. Each function queues one answer on a connection and returns the result of a
 * libmicrohttpd handler, MHD_NO (close the connection) if memory ran out.
 */
#pragma once

#include "serve/api_answer.h"
#include "serve/http_library.h"
#include "serve/serve_options.h"

/* The file served as profile.json. */
struct served_profile {
    int fd;
    uint64_t size; /* bytes in the file */
    bool is_gzip;
    bool is_json; /* not gzip and not JSLB */
    bool is_live; /* a newer profile replaces this one within seconds (live_events.h) */
    /* The added pieces (profile/append.h): objects of the array "added", each after a comma, in the first added_end
     * bytes of a file. added_base is the number of the file. added_fd is -1 without pieces. */
    int added_fd;
    uint64_t added_base, added_end;
    uint64_t json_size; /* bytes of uncompressed JSON, modulo 2^32, from the end of the gzip file; for progress bars */
};

/* The client of an answer, and its permissions. */
struct recipient {
    struct MHD_Connection *connection;
    const char *origin; /* origin of another web page that may read the answer, or NULL */
    bool has_own_page;  /* the server serves prof's page, which needs no inline scripts */
};

/* Answers with a status and one sentence of plain text. */
enum MHD_Result answer_status(const struct recipient *to, unsigned status, const char *sentence);

/* Like answer_status(), and closes the connection. */
enum MHD_Result answer_and_close(const struct recipient *to, unsigned status, const char *sentence);

/* Returns whether the client shows the answer as a page. */
bool answer_can_be_page(const struct recipient *to);

/* Answers with 404 and the page "prof has stopped"; closes the connection. */
enum MHD_Result answer_stopped(const struct recipient *to);

/* Answers with 405 and the allowed methods. */
enum MHD_Result answer_wrong_method(const struct recipient *to, const char *allowed);

/* Redirects with 308 to `path` on this server. */
enum MHD_Result answer_redirect(const struct recipient *to, const char *path);

/* Answers a CORS preflight request with 204: the page of `to` may send JSON with this method. */
enum MHD_Result answer_preflight(const struct recipient *to, const char *method);

/* Sends an open file, and takes ownership of its descriptor. */
enum MHD_Result answer_file(const struct recipient *to, int fd, uint64_t size, const char *type);

/* Sends an asset, or 304 if the client has cached it. */
enum MHD_Result answer_asset(const struct recipient *to, const struct serve_asset *asset);

/* Sends plain text for the scripts of the page; frees `text`. */
enum MHD_Result answer_text(const struct recipient *to, char *text, size_t length);

/* Sends the JSON of the symbol API; takes ownership of its text. */
enum MHD_Result answer_api(const struct recipient *to, struct api_answer *answer);

/* Sends the profile as uncompressed JSON or JSLB. */
enum MHD_Result answer_profile(const struct recipient *to, const struct served_profile *profile);

/* Sends a growing profile with all added pieces, or only the pieces after the position in the query parameter "added"
 * (growing_answer.c). */
enum MHD_Result answer_growing_profile(const struct recipient *to, const struct served_profile *profile);

/* Returns whether the request has the query parameter "added": a position after which it requests the pieces, or an
 * empty text for all pieces. */
bool answer_asks_for_added(const struct recipient *to);

/* Adds the headers of a profile to the response, queues the response and frees it. `response` is NULL if memory ran
 * out. */
enum MHD_Result answer_with_profile(const struct recipient *to, const struct served_profile *profile,
                                    struct MHD_Response *response, uint64_t size);

/* Sends the bytes of the profile file for saving, without changing its compression. */
enum MHD_Result answer_saved(const struct recipient *to, const struct served_profile *profile);

/* Sends a stream of server-sent events; takes ownership of `response`. */
enum MHD_Result answer_events(const struct recipient *to, struct MHD_Response *response);
