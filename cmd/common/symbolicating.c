#include "cmd/common/symbolicating.h"

#include "cmd/common/directories.h"
#include "cmd/common/ui.h"

#include "assemble/symbolicate_profile.h"
#include "base/search.h"

enum { MOST_LIBRARIES = 16 };

DEFINE_COMPARE(compare_unnamed, struct symbolicated_library, ORDER_THEN(b->unnamed, a->unnamed, ORDER(a->lib, b->lib)))

static const char *get_library_name(const struct profile *profile, uint32_t lib)
{
    uint32_t name = profile->libs.data[lib].name;
    const char *text = profile_text(profile, name);
    return text[0] ? text : "a library without a name";
}

static void print_result(const struct profile *profile, struct symbolicate_result *result, const char *subject)
{
    size_t left = 0;
    ui_print_message("%s: %" PRIu64 " of %" PRIu64 " addresses have a symbol", subject,
                     result->addresses - result->unnamed, result->addresses);
    array_sort(&result->libraries, compare_unnamed);
    for (size_t i = 0; i < result->libraries.length && result->libraries.data[i].unnamed; i++) {
        const struct symbolicated_library *library = &result->libraries.data[i];
        if (i >= MOST_LIBRARIES)
            left++;
        else
            ui_print_message("%s: %" PRIu64 " of %" PRIu64 " addresses have no symbol%s%s",
                             get_library_name(profile, library->lib), library->unnamed, library->addresses,
                             library->problem[0] ? ": " : "", library->problem);
    }
    if (left)
        ui_print_message("%zu more libraries have addresses without a symbol", left);
}

int symbolicate_and_report(struct profile *profile, const char *subject, struct symbol_options *symbols, bool no_cache)
{
    struct directory_path path;
    struct symbolizer_options options = {.use_cache = true,
                                         .cache_directory = no_cache ? NULL : find_cache_directory(&path),
                                         .search = &symbols->search};
    symbol_options_block_interrupts(symbols, true);
    struct error err = {0};
    struct symbolicate_result result = {.addresses = 0};
    struct symbolizer *symbolizer = symbolizer_new(&options);
    int code = symbolizer ? profile_symbolicate(profile, symbolizer, &result, &err) : error_no_memory(&err);
    if (code == 0)
        print_result(profile, &result, subject);
    symbolicate_result_destroy(&result);
    symbolizer_free(symbolizer);
    symbol_options_block_interrupts(symbols, false);
    return code == 0 ? EXIT_SUCCESS : ui_fail_with_error(&err);
}
