/*
 * The request asm/v1 of the symbol API. The code comes from the mapped file if the file has the recorded build id.
 */
#include "serve/symbol_api.h"

#include "base/json_write.h"
#include "process/jit_files.h"
#include "serve/api_request.h"
#include "symbol/disassemble.h"

static int write_disassembly(const struct disassembly *disassembly, struct api_answer *answer, struct error *err)
{
    struct byte_sink sink = api_answer_make_sink(answer);
    struct json_writer writer;
    json_writer_init(&writer, &sink, err);
    json_open(&writer, '{');
    json_member_hex(&writer, "startAddress", disassembly->start);
    json_member_hex(&writer, "size", disassembly->size);
    json_member_text(&writer, "arch", disassembly->architecture);
    json_member_open(&writer, "syntax", '[');
    for (size_t i = 0; i < disassembly->syntax_count; i++)
        json_text_z(&writer, disassembly->syntaxes[i]);
    json_close(&writer, ']');
    if (disassembly->note[0]) {
        json_member_text(&writer, "note", disassembly->note); /* an extension of prof, which other clients ignore */
    }
    json_member_open(&writer, "instructions", '[');
    for (size_t i = 0; writer.status == 0 && i < disassembly->instructions.length; i++) {
        const struct disassembled *row = &disassembly->instructions.data[i];
        json_open(&writer, '[');
        json_unsigned(&writer, row->offset);
        for (size_t s = 0; s < disassembly->syntax_count; s++)
            json_text_z(&writer, row->texts[s]);
        json_close(&writer, ']');
    }
    json_close(&writer, ']');
    json_close(&writer, '}');
    return json_writer_finish(&writer);
}

static int find_library(const struct symbol_api *api, const struct asm_request *request, struct identified_library *out,
                        struct error *err)
{
    uint32_t row = request->key ? served_libs_find(&api->libs, request->key)
                                : served_libs_find_code_id(&api->libs, request->code_id);
    if (row == SERVED_LIB_NONE)
        return error_set(err, ENOENT, "the profile has no library %s", request->key ? request->key : request->code_id);
    return named_library_identify(&api->libs.rows.data[row], out, err);
}

static int answer_asm(const struct symbol_api *api, const struct asm_request *request, struct api_answer *answer,
                      struct error *err)
{
    struct identified_library lib;
    int code = find_library(api, request, &lib, err);
    if (code != 0)
        return code;
    struct disassemble_request wanted = {.lib = lib.symbol,
                                         .search = api->search,
                                         .start = request->start,
                                         .size = request->size,
                                         .until_function_end = request->until_function_end};
    struct disassembly disassembly;
    code = disassemble(&disassembly, &wanted, api->names, err);
    if (code == -ENOENT && jit_files_is_jitdump_name(lib.symbol.name))
        error_prefix(err, code, "the cache of prof no longer has the JIT code of this recording");
    if (code == 0)
        code = write_disassembly(&disassembly, answer, err);
    disassembly_destroy(&disassembly);
    return code;
}

void symbol_api_answer_asm(const struct symbol_api *api, const char *body, size_t size, struct api_answer *answer)
{
    struct asm_request request;
    struct error err = {""};
    int code = asm_request_read(&request, body, size, &err);
    if (code == 0)
        code = answer_asm(api, &request, answer, &err);
    asm_request_destroy(&request);
    if (code)
        api_answer_error(answer, &err);
}
