/*
 * source/v1. The client names a file, and the debug info of the address determines the file to open. So a request
 * cannot open a file that no address of a recorded library comes from. A request without library and address, an
 * extension of prof, is for a script: a source file of code that was compiled at run time. prof opens a script only if
 * the profile names it, its name has the extension of a script, and the client is prof's own page.
 */
#include "serve/symbol_api.h"

#include "os/file_io.h"
#include "base/json_write.h"
#include "serve/api_request.h"

enum { SOURCE_MAX = 16 << 20 }; /* limit of a source file, bytes */

/* Returns whether a frame of the address has this source file. */
static bool is_file_of(const struct symbol_answers *answers, const char *file)
{
    if (answers->count != 1)
        return false;
    const struct symbol_answer *answer = &answers->answers[0];
    for (uint32_t i = 0; i < answer->frame_count; i++) {
        const struct symbol_frame *frame = &answers->frames.data[answer->first_frame + i];
        if (frame->file && strcmp(frame->file, file) == 0)
            return true;
    }
    return false;
}

/* Applies the user's source maps to a path, and makes a relative path absolute, from the directory of the library. The
 * caller frees the result. NULL if memory ran out. */
static char *resolve_path(const struct symbol_api *api, const char *file, const char *lib_path)
{
    const char *slash = strrchr(lib_path, '/');
    char *mapped = source_map_apply(api->source_maps, api->source_map_count, file), *path;
    if (!mapped || mapped[0] == '/' || !slash)
        return mapped;
    if (asprintf(&path, "%.*s/%s", (int)(slash - lib_path), lib_path, mapped) < 0)
        path = NULL;
    free(mapped);
    return path;
}

/* Loads a source file from its path in the debug info, or its mapped path, or -ENOENT if the file cannot be opened. */
static int load_local(const struct symbol_api *api, const char *file, const char *lib_path, char **text, size_t *size,
                      struct error *err)
{
    char *path = resolve_path(api, file, lib_path);
    if (!path)
        return error_no_memory(err);
    int fd = file_open_in(-1, path);
    int code = fd < 0 ? error_set(err, ENOENT, "cannot open %s: %s", path, strerror(-fd))
                      : file_load_text(fd, path, SOURCE_MAX, text, size, err);
    free(path);
    return code;
}

/* Requests a file from debug servers only if the file is not on this machine. After a failure, the error is the error
 * of the local search. */
static int load_served(const struct symbol_api *api, const struct symbol_lib *lib, const char *file, char **text,
                       size_t *size, struct error *err)
{
    struct error ignored;
    int fd = api->search ? debug_search_fetch_source(api->search, lib, file, &ignored) : -ENOENT;
    return fd < 0 ? -ENOENT : file_load_text(fd, file, SOURCE_MAX, text, size, err);
}

static int write_source(const char *file, const char *text, size_t size, struct api_answer *answer, struct error *err)
{
    struct byte_sink sink = api_answer_make_sink(answer);
    struct json_writer writer;
    json_writer_init(&writer, &sink, err);
    json_open(&writer, '{');
    json_member_text(&writer, "symbolsLastModified", NULL);
    json_member_text(&writer, "sourceLastModified", NULL);
    json_member_text(&writer, "file", file);
    json_key(&writer, "source");
    json_text(&writer, text, size);
    json_close(&writer, '}');
    return json_writer_finish(&writer);
}

/* Finds the text of a source file. Text in the debug info has precedence, because a file in the directory may have
 * changed since the build. */
static int find_text(const struct symbol_api *api, const struct symbol_lib *lib, const char *lib_path,
                     const struct source_request *request, char **text, size_t *size, struct error *err)
{
    int code = symbolizer_load_embedded_source(api->symbolizer, lib, request->address, request->file, text, size, err);
    if (code == -ENOENT)
        code = load_local(api, request->file, lib_path, text, size, err);
    if (code == -ENOENT)
        code = load_served(api, lib, request->file, text, size, err);
    return code;
}

static int send_text(const struct source_request *request, const char *text, size_t size, struct api_answer *answer,
                     struct error *err)
{
    if (memchr(text, '\0', size))
        return error_set(err, ENOENT, "%s is not a text file", request->file);
    return write_source(request->file, text, size, answer, err);
}

static int send_file(const struct symbol_api *api, const struct symbol_lib *lib, const char *lib_path,
                     const struct source_request *request, struct api_answer *answer, struct error *err)
{
    char *text = NULL;
    size_t size = 0;
    int code = find_text(api, lib, lib_path, request, &text, &size, err);
    if (code == 0)
        code = send_text(request, text, size, answer, err);
    free(text);
    return code;
}

static int answer_script(const struct symbol_api *api, const struct source_request *request, struct api_answer *answer,
                         struct error *err)
{
    char *text = NULL;
    size_t size = 0;
    if (!api->is_of_own_page || strings_find(&api->libs.scripts, request->file, strlen(request->file)) == STRING_NONE)
        return error_set(err, ENOENT, "the profile has no addresses of this file, and does not name it as a script");
    int code = load_local(api, get_script_path(request->file), "", &text, &size, err);
    if (code == 0)
        code = send_text(request, text, size, answer, err);
    free(text);
    return code;
}

static int answer_source(const struct symbol_api *api, const struct source_request *request, struct api_answer *answer,
                         struct error *err)
{
    uint32_t row = served_libs_find(&api->libs, request->key);
    if (row == SERVED_LIB_NONE)
        return error_set(err, ENOENT, "the profile has no library %s", request->key);
    const struct named_library *served = &api->libs.rows.data[row];
    struct identified_library lib;
    int code = named_library_identify(served, &lib, err);
    if (code != 0)
        return code;
    struct symbol_answers answers;
    code = symbolizer_lookup(api->symbolizer, &lib.symbol, &request->address, 1, &answers, err);
    if (code == 0 && is_file_of(&answers, request->file))
        code = send_file(api, &lib.symbol, served->path, request, answer, err);
    else if (code == 0)
        code = error_set(err, ENOENT, "the address does not come from this file%s%s", answers.problem[0] ? ": " : "",
                         answers.problem);
    symbol_answers_destroy(&answers);
    return code;
}

void symbol_api_answer_source(const struct symbol_api *api, const char *body, size_t size, struct api_answer *answer)
{
    struct source_request request;
    struct error err = {""};
    int code = source_request_read(&request, body, size, &err);
    if (code == 0)
        code = request.key ? answer_source(api, &request, answer, &err) : answer_script(api, &request, answer, &err);
    source_request_destroy(&request);
    if (code)
        api_answer_error(answer, &err);
}
