/*
 * Any profile that is accepted, symbolicated. Its first library becomes a program of this system, so that some of its
 * addresses have names. Samples keep their number and whether they have a stack, and the result keeps the promises of a
 * profile.
 */
#include "assemble/symbolicate_profile.h"
#include "support/profile_text.h"
#include "elf/elf_file.h"
#include "symbol/library_id.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void name_first_library(struct profile *profile)
{
    static const char path[] = "/bin/true";
    char code_id[CODE_ID_SIZE] = "";
    struct elf_file file;
    if (!profile->libs.length || elf_file_open(&file, path, NULL) != 0)
        return;
    write_code_id(file.build_id, file.build_id_size, code_id);
    elf_file_close(&file);
    profile->libs.data[0].path = strings_add_z(&profile->strings, path);
    profile->libs.data[0].code_id = strings_add_z(&profile->strings, code_id);
}

/* The number of samples that have a stack. */
static size_t count_stacks(const struct profile *profile)
{
    size_t count = 0;
    for (size_t t = 0; t < profile->threads.length; t++)
        for (size_t i = 0; i < profile->threads.data[t].samples.length; i++)
            count += profile->threads.data[t].samples.stack[i] != PROFILE_NONE;
    return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static struct symbolizer *symbolizer;
    struct error err = {""};
    struct profile profile = {0};
    struct symbolicate_result result = {.addresses = 0};
    if (!symbolizer) /* which remembers, and so need not start threads each time */
        symbolizer = symbolizer_new(&(struct symbolizer_options){.threads = 1, .use_cache = true});
    if (!symbolizer)
        abort();
    if (read_bytes((const char *)bytes, size, 4096, &profile, &err) != 0)
        return 0;
    name_first_library(&profile);
    size_t stacks = count_stacks(&profile);
    if (profile_symbolicate(&profile, symbolizer, &result, &err) != 0 || profile_check(&profile, &err) != 0 ||
        count_stacks(&profile) != stacks || result.unnamed > result.addresses)
        abort();
    symbolicate_result_destroy(&result);
    profile_destroy(&profile);
    return 0;
}
