#include "serve/http_library.h"

#include <pthread.h>

static const char library[] = "libmicrohttpd.so.12";

struct http_library microhttpd;
static bool is_loaded;

static void load(void)
{
    static const struct late_symbol symbols[] = {HTTP_FUNCTIONS(LATE_SYMBOL)};
    is_loaded = late_library_load(library, symbols, sizeof(symbols) / sizeof(*symbols), &microhttpd);
}

int http_library_load(struct error *err)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    return is_loaded ? 0 : error_set(err, ENOENT, "cannot start the web server: install %s", library);
}
