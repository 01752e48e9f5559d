/*
 * Answers: their contents and headers. Each function queues one answer on a connection and returns the result of a
 * libmicrohttpd handler: MHD_NO (close the connection) if memory ran out.
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
    bool is_live; /* another one takes its place soon (live_events.h) */
    /* The added pieces (profile/append.h), objects of "added" with a comma before each: the first added_end bytes of
     * a file, number added_base of such files. -1: none. */
    int added_fd;
    uint64_t added_base, added_end;
    uint64_t json_size; /* bytes of JSON, from the end of the gzip file (modulo 2^32): for progress bars */
};

/* The client of an answer, and its permissions. */
struct recipient {
    struct MHD_Connection *connection;
    const char *origin; /* another web page that may read the answer, or NULL */
    bool has_own_page;  /* the served page is prof's, which needs no inline scripts */
};

/* A status with one sentence as plain text. */
enum MHD_Result answer_status(const struct recipient *to, unsigned status, const char *sentence);

/* The same, and closes the connection. */
enum MHD_Result answer_and_close(const struct recipient *to, unsigned status, const char *sentence);

/* Whether the client shows the answer as a page. */
bool answer_wants_page(const struct recipient *to);

/* 404, as a page that reports that prof has stopped at this address; closes the connection. */
enum MHD_Result answer_stopped(const struct recipient *to);

/* 405, with the methods that the path has. */
enum MHD_Result answer_wrong_method(const struct recipient *to, const char *allowed);

/* 308 to `path`, which is on this server. */
enum MHD_Result answer_redirect(const struct recipient *to, const char *path);

/* 204: the page of `to` may send requests with this method, and JSON. */
enum MHD_Result answer_preflight(const struct recipient *to, const char *method);

/* Sends an open file, and takes it over. */
enum MHD_Result answer_file(const struct recipient *to, int fd, uint64_t size, const char *type);

/* The asset, or 304 if the client has it. */
enum MHD_Result answer_asset(const struct recipient *to, const struct serve_asset *asset);

/* 200 with a text that the page reads but does not show; frees `text`. */
enum MHD_Result answer_text(const struct recipient *to, char *text, size_t length);

/* 200 with the JSON of the symbol API; takes its text. */
enum MHD_Result answer_api(const struct recipient *to, struct api_answer *answer);

/* The profile as JSON (or JSLB), uncompressed. */
enum MHD_Result answer_profile(const struct recipient *to, const struct served_profile *profile);

/* The same for a profile with added samples: with all of them, or with those after a part that the request names
 * ("added"). (growing_answer.c) */
enum MHD_Result answer_growing_profile(const struct recipient *to, const struct served_profile *profile);

/* Whether the request has "added": it wants the pieces after a part, or all so far if that is empty. */
bool answer_asks_for_added(const struct recipient *to);

/* Adds headers, queues the response and frees it. NULL: memory ran out. */
enum MHD_Result answer_with_profile(const struct recipient *to, const struct served_profile *profile,
                                    struct MHD_Response *response, uint64_t size);

/* The bytes of the file, for saving, with the file's own compression. */
enum MHD_Result answer_saved(const struct recipient *to, const struct served_profile *profile);

/* A stream of server-sent events, which this takes over. */
enum MHD_Result answer_events(const struct recipient *to, struct MHD_Response *response);
