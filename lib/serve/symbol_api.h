/*
 * The local symbol server API of the Firefox Profiler and samply. These functions take the body of a request and fill
 * the answer; the server handles the transport.
 *
 *     symbolicate/v5   names, lines and inlined calls of addresses
 *     source/v1        the text of the source file of an address
 *     asm/v1           the machine code of a function, disassembled
 *     names            an extension of prof, see names_api.c
 *
 * The API opens only libraries that the served profile names, and only files with the build id of such a library.
 */
#pragma once

#include "serve/api_answer.h"
#include "serve/served_libs.h"
#include "serve/source_map.h"
#include "symbol/debug_search.h"
#include "symbol/symbol.h"

struct symbol_api {
    struct served_libs libs;
    int profile_fd; /* the served profile */
    struct symbolizer *symbolizer;
    const struct debug_search *search; /* debuginfod servers, for missing sources and code, or NULL for none */
    struct symbolizer *names;          /* finds symbols without reading debug info */
    const struct source_map *source_maps;
    size_t source_map_count;
    bool is_of_own_page; /* the client may read the scripts of the profile, and symbolize other profiles */
    const atomic_bool *stop;
    bool (*control)(void *context, const char *request, char *answer, size_t size); /* see struct serve_options */
    void *control_context;
};

/* The functions always fill `answer`, with an error on failure; `answer` comes zeroed. Each function may take seconds,
 * because it reads debug info. */
void symbol_api_answer_symbolicate(const struct symbol_api *api, const char *body, size_t size,
                                   struct api_answer *answer);
void symbol_api_answer_control(const struct symbol_api *api, const char *body, size_t size, struct api_answer *answer);
void symbol_api_answer_source(const struct symbol_api *api, const char *body, size_t size, struct api_answer *answer);
void symbol_api_answer_asm(const struct symbol_api *api, const char *body, size_t size, struct api_answer *answer);

/* `fd`: the body in a file, a profile. If the body is empty, symbolizes the served profile, and the answer is_own. */
void symbol_api_answer_names(struct symbol_api *api, int fd, struct api_answer *answer);
