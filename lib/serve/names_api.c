/*
 * The request "names" symbolizes a profile that the client sends. The page sends profiles without symbols, such as
 * samply's, that the user opens in the page. The symbol API then serves the libraries of such a profile, too, so the
 * page can show its source and machine code. A request without a profile symbolizes the served profile once more, with
 * debug files that were installed or can be downloaded since.
 */
#include "serve/symbol_api.h"

#include "assemble/symbolicate_profile.h"
#include "base/json_write.h"
#include "base/utf8.h"
#include "file/profile_file.h"

#include <sys/stat.h>

/* Writes {"addresses": N, "unnamed": N, "problems": [sentence of each library that lacks symbols]}. */
static int write_result(struct api_answer *answer, const struct profile *profile,
                        const struct symbolicate_result *result, struct error *err)
{
    struct byte_sink sink = api_answer_make_sink(answer);
    struct json_writer json;
    json_writer_init(&json, &sink, err);
    json_open(&json, '{');
    json_member_unsigned(&json, "addresses", result->addresses);
    json_member_unsigned(&json, "unnamed", result->unnamed);
    json_member_open(&json, "problems", '[');
    for (size_t i = 0; i < result->libraries.length; i++) {
        const struct symbolicated_library *library = &result->libraries.data[i];
        const char *name = profile_text(profile, profile->libs.data[library->lib].name);
        char text[512];
        snprintf(text, sizeof(text), "%.*s: %s", utf8_cut(name, 200), name, library->problem);
        if (library->unnamed && library->problem[0])
            json_text_z(&json, text);
    }
    json_close(&json, ']');
    json_close(&json, '}');
    return json_writer_finish(&json);
}

static int symbolicate(struct symbol_api *api, struct profile *profile, struct api_answer *answer, struct error *err)
{
    struct symbolicate_result result = {.addresses = 0};
    int code = profile_symbolicate(profile, api->symbolizer, &result, err);
    if (!code && answer->is_own)
        code = write_result(answer, profile, &result, err);
    symbolicate_result_destroy(&result);
    return code;
}

void symbol_api_answer_names(struct symbol_api *api, int fd, struct api_answer *answer)
{
    struct profile profile = {0};
    struct error err = {""};
    struct stat body;
    answer->is_own = fstat(fd, &body) == 0 && body.st_size == 0;
    int code = profile_load_fd(answer->is_own ? api->profile_fd : fd, api->stop, &profile, &err);
    if (!code)
        code = symbolicate(api, &profile, answer, &err);
    if (!code)
        code = served_libs_add_profile(&api->libs, &profile, &err);
    int named = code ? code : profile_write_to_memory(&profile, &err);
    profile_destroy(&profile);
    if (named < 0)
        api_answer_error(answer, &err);
    else
        api_answer_file(answer, named);
}
