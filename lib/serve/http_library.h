/* The functions of libmicrohttpd. prof loads the library when it starts a server (os/late_library.h). */
#pragma once

#include "base/error.h"
#include "os/late_library.h"

#include <microhttpd.h>

#define HTTP_FUNCTIONS(use)                                                                                            \
    use(MHD_add_response_header) use(MHD_create_response_from_buffer) use(MHD_create_response_from_callback)           \
        use(MHD_create_response_from_fd64) use(MHD_destroy_response) use(MHD_get_connection_info)                      \
            use(MHD_get_connection_values) use(MHD_lookup_connection_value) use(MHD_queue_response)                    \
                use(MHD_resume_connection) use(MHD_set_connection_option) use(MHD_start_daemon) use(MHD_stop_daemon)   \
                    use(MHD_suspend_connection)

struct http_library {
    HTTP_FUNCTIONS(LATE_FUNCTION)
};

extern struct http_library microhttpd;

/* Loads the functions once. Call this function before any use of `microhttpd`. */
int http_library_load(struct error *err);
