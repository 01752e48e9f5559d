/* The file of trusted authorities, which each distribution has elsewhere. libcurl of the portable binary calls this
 * function for each connection. */
#include <stdlib.h>
#include <unistd.h>

const char *find_ca_file(void);

const char *find_ca_file(void)
{
    static const char *const files[] = {
        "/etc/ssl/certs/ca-certificates.crt", /* Debian, Ubuntu, Arch, Alpine */
        "/etc/pki/tls/certs/ca-bundle.crt",   /* Fedora, RHEL */
        "/etc/ssl/ca-bundle.pem",             /* SUSE */
        "/etc/ssl/cert.pem",                  /* Alpine */
    };
    const char *own = getenv("SSL_CERT_FILE");
    if (own && *own)
        return own;
    for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
        if (access(files[i], R_OK) == 0)
            return files[i];
    return NULL;
}
