/*
 * The request "names" symbolizes a profile that the client sends. The page sends profiles without symbols, such as
 * samply's, that the user opens in the page. The symbol API then serves the libraries of such a profile, too, so the
 * page can show its source and machine code.
 */
#include "serve/symbol_api.h"

#include "assemble/symbolicate_profile.h"
#include "file/profile_file.h"

static int symbolicate_body(struct symbol_api *api, struct profile *profile, struct error *err)
{
    struct symbolicate_result result = {.addresses = 0};
    int code = profile_symbolicate(profile, api->symbolizer, &result, err);
    symbolicate_result_destroy(&result);
    return code;
}

void symbol_api_names(struct symbol_api *api, int fd, struct api_answer *answer)
{
    struct profile profile = {0};
    struct error err = {""};
    int code = profile_load_fd(fd, api->stop, &profile, &err);
    if (!code)
        code = symbolicate_body(api, &profile, &err);
    if (!code)
        code = served_libs_add_profile(&api->libs, &profile, &err);
    int named = code ? code : profile_to_memory(&profile, &err);
    profile_destroy(&profile);
    if (named < 0)
        api_answer_error(answer, &err);
    else
        api_answer_file(answer, named);
}
