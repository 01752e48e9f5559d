#include "serve/own_address.h"

#include <strings.h>
#include <sys/random.h>

void own_address_write_token(char token[TOKEN_LENGTH + 1], const unsigned char bits[TOKEN_BITS / 8])
{
    static const char digits[33] = "0123456789abcdefghjkmnpqrstvwxyz"; /* without i, l, o and u */
    unsigned rest = 0, rest_bits = 0;
    for (size_t i = 0; i < TOKEN_LENGTH; i++) {
        if (rest_bits < 5) {
            rest = rest << 8 | *bits++;
            rest_bits += 8;
        }
        rest_bits -= 5;
        token[i] = digits[rest >> rest_bits & 31];
    }
    token[TOKEN_LENGTH] = '\0';
}

int own_address_init(struct own_address *own, uint16_t port, const char *token, struct error *err)
{
    unsigned char bits[TOKEN_BITS / 8];
    own->port = port;
    if (token)
        snprintf(own->token, sizeof(own->token), "%s", token);
    else if (getrandom(bits, sizeof(bits), 0) == (ssize_t)sizeof(bits))
        own_address_write_token(own->token, bits);
    else
        return error_set(err, EIO, "cannot get random numbers for the address: %s", strerror(errno));
    snprintf(own->url, sizeof(own->url), "http://127.0.0.1:%u/%s/", (unsigned)port, own->token);
    return 0;
}

bool own_address_accepts_host(const struct own_address *own, const char *host)
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

bool own_address_accepts_origin(const struct own_address *own, const char *origin)
{
    static const char scheme[] = "http://";
    return !strncmp(origin, scheme, strlen(scheme)) && own_address_accepts_host(own, origin + strlen(scheme));
}

const char *own_address_find_path_after_token(const struct own_address *own, const char *path)
{
    if (strlen(path) < 1 + TOKEN_LENGTH)
        return NULL;
    unsigned difference = (unsigned char)path[0] ^ '/';
    for (size_t i = 0; i < TOKEN_LENGTH; i++)
        difference |= (unsigned char)path[1 + i] ^ (unsigned char)own->token[i];
    const char *rest = path + 1 + TOKEN_LENGTH;
    return difference == 0 && (*rest == '\0' || *rest == '/') ? rest : NULL;
}
