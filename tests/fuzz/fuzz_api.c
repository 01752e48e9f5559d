/*
 * Any bytes as the body of a request to the symbol API; the first byte chooses the request. For every input the answer
 * is a JSON object with a valid status. The profile has a small system program as its library, and a script.
 */
#include "base/json.h"
#include "serve/symbol_api.h"
#include "symbol/library_id.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static const char breakpad_id[] = "0123456789ABCDEF0123456789ABCDEF0";

static void start(struct symbol_api *api)
{
    struct elf_file file;
    char code_id[CODE_ID_SIZE] = "";
    if (elf_file_open(&file, "/bin/true", NULL) == 0) {
        write_code_id(file.build_id, file.build_id_size, code_id);
        elf_file_close(&file);
    }
    struct symbolizer_options options = {.threads = 1};
    struct named_library lib = {
        .debug_name = "true", .breakpad_id = breakpad_id, .code_id = code_id, .path = "/bin/true"};
    struct named_library bare = {.debug_name = "bare", .breakpad_id = "", .code_id = "", .path = "/bin/true"};
    api->symbolizer = symbolizer_new(&options);
    options.skip_inlines_and_lines = options.use_cache = true;
    api->names = symbolizer_new(&options);
    api->is_of_own_page = true;
    if (strings_add_z(&api->libs.scripts, "/dev/null") == STRING_NONE ||
        strings_add_z(&api->libs.scripts, "file:///bin/true") == STRING_NONE)
        abort();
    if (!api->symbolizer || !api->names || !served_libs_add(&api->libs, &lib) || !served_libs_add(&api->libs, &bare))
        abort();
}

/* Whether the text is one JSON object. */
static bool is_object(const char *text, size_t size)
{
    struct json json;
    json_init(&json);
    json_feed(&json, text, size);
    json_end_input(&json);
    bool good = json_next(&json) == JSON_OBJECT_OPEN;
    enum json_type type;
    while ((type = json_next(&json)) > JSON_END)
        ;
    json_destroy(&json);
    return good && type == JSON_END;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static struct symbol_api api;
    if (!api.symbolizer)
        start(&api);
    if (size == 0)
        return 0;
    struct api_answer answer = {.text = NULL};
    if (bytes[0] == 's')
        symbol_api_answer_source(&api, (const char *)bytes + 1, size - 1, &answer);
    else if (bytes[0] == 'a')
        symbol_api_answer_asm(&api, (const char *)bytes + 1, size - 1, &answer);
    else
        symbol_api_answer_symbolicate(&api, (const char *)bytes + 1, size - 1, &answer);
    if (!is_object(answer.text, answer.size))
        abort();
    api_answer_destroy(&answer);
    return 0;
}
