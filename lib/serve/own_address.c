#include "serve/own_address.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>

static int make_token(char token[TOKEN_LENGTH + 1], struct error *err)
{
    static const char digits[33] = "0123456789abcdefghjkmnpqrstvwxyz"; /* none that look alike */
    unsigned char bytes[TOKEN_LENGTH];
    if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
        return error_set(err, EIO, "cannot get random numbers for the address: %s", strerror(errno));
    for (size_t i = 0; i < TOKEN_LENGTH; i++)
        token[i] = digits[bytes[i] % 32];
    token[TOKEN_LENGTH] = '\0';
    return 0;
}

int own_address_init(struct own_address *own, uint16_t port, struct error *err)
{
    own->port = port;
    int code = make_token(own->token, err);
    if (code)
        return code;
    snprintf(own->url, sizeof(own->url), "http://127.0.0.1:%u/%s/", (unsigned)port, own->token);
    return 0;
}

bool own_address_is_host(const struct own_address *own, const char *host)
{
    enum { HTTP_PORT = 80 };
    static const char *const names[] = {"127.0.0.1", "localhost"};
    char port[8];
    snprintf(port, sizeof(port), ":%u", (unsigned)own->port);
    for (size_t i = 0; host && i < sizeof(names) / sizeof(*names); i++) {
        size_t length = strlen(names[i]);
        if (strncasecmp(host, names[i], length))
            continue;
        if (!strcmp(host + length, port) || (own->port == HTTP_PORT && host[length] == '\0'))
            return true;
    }
    return false;
}

bool own_address_is_origin(const struct own_address *own, const char *origin)
{
    static const char scheme[] = "http://";
    return !strncmp(origin, scheme, strlen(scheme)) && own_address_is_host(own, origin + strlen(scheme));
}

const char *own_address_path_after_token(const struct own_address *own, const char *path)
{
    if (strlen(path) < 1 + TOKEN_LENGTH)
        return NULL;
    unsigned difference = (unsigned char)path[0] ^ '/';
    for (size_t i = 0; i < TOKEN_LENGTH; i++)
        difference |= (unsigned char)path[1 + i] ^ (unsigned char)own->token[i];
    const char *rest = path + 1 + TOKEN_LENGTH;
    return difference == 0 && (*rest == '\0' || *rest == '/') ? rest : NULL;
}
