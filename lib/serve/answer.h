/*
 * Answers: what is sent, with which headers. Each function queues one answer on the connection and returns what
 * libmicrohttpd wants of its handler: MHD_NO (close the connection) if memory ran out.
 */
#ifndef PROF_SERVE_ANSWER_H
#define PROF_SERVE_ANSWER_H

#include "serve/api_answer.h"
#include "serve/serve.h"

#include <microhttpd.h>

/* The file that is served as profile.json. */
struct served_profile {
    int fd;
    uint64_t size; /* bytes in the file */
    bool is_gzip;
    bool is_json;       /* not gzip and not JSLB */
    uint64_t json_size; /* bytes of JSON, as the end of a gzip file tells it (modulo 2^32): for progress bars */
};

/* A status with one sentence as plain text. */
enum MHD_Result answer_status(struct MHD_Connection *connection, unsigned status, const char *sentence);

/* 405, with the methods that the path has. */
enum MHD_Result answer_wrong_method(struct MHD_Connection *connection, const char *allowed);

/* 308 to `path`, which is on this server. */
enum MHD_Result answer_redirect(struct MHD_Connection *connection, const char *path);

/* The asset, or 304 if the client has it. */
enum MHD_Result answer_asset(struct MHD_Connection *connection, const struct serve_asset *asset);

/* The JSON of the symbol API, whose text this takes. */
enum MHD_Result answer_api(struct MHD_Connection *connection, struct api_answer *answer);

/* The profile, compressed as it is saved if the client takes that. */
enum MHD_Result answer_profile(struct MHD_Connection *connection, const struct served_profile *profile);

/* The bytes of its file, for keeping: compressed is what the file is, not how it is sent. */
enum MHD_Result answer_saved(struct MHD_Connection *connection, const struct served_profile *profile);

#endif
