/* Requests to a running recording, over its socket (os/control_socket.h). */
#pragma once

#include "base/standard.h"

#include <sys/types.h>

/* Sends a request to the recorder `pid` of this user and waits for the answer, without its newline: "ok TEXT" or "error
 * TEXT". Returns false if no answer came. */
bool ctl_send_request(pid_t pid, const char *request, char *answer, size_t size);
