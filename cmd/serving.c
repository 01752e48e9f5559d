#include "cmd/serving.h"

#include "cmd/browser.h"
#include "cmd/common/directories.h"
#include "cmd/page.h"
#include "cmd/common/ui.h"

#include "serve/serve_directory.h"
#include "serve/lasting_address.h"

#include <fcntl.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

static bool is_hosted(const struct serving_options *options)
{
    return options->ui && !strcmp(options->ui, "hosted");
}

/* Parses --port: "3000" is only port 3000, "3000+" the first free port at or above 3000, "0" any free port. */
static int parse_port(const struct option_use *use)
{
    struct serving_options *options = use->group;
    unsigned long port = 0;
    const char *at = use->value;
    for (; *at >= '0' && *at <= '9' && port <= UINT16_MAX; at++)
        port = port * 10 + (unsigned long)(*at - '0');
    bool plus = *at == '+';
    if (at == use->value || at[plus] != '\0' || port > UINT16_MAX || (plus && port == 0))
        return ui_usage(use->command, "'%s' is not a port; give 3000, 3000+ or 0", use->value);
    options->port = (uint16_t)port;
    options->search_port = plus;
    options->has_port = true;
    return 0;
}

/* "hosted" or a directory. */
static int parse_ui(const struct option_use *use)
{
    struct serving_options *options = use->group;
    struct error err;
    options->ui = use->value;
    if (is_hosted(options))
        return 0;
    int directory = served_directory_open(use->value, &err);
    if (directory < 0)
        return ui_usage(use->command, "'%s' is not a front end; give 'hosted' or a directory with an index.html",
                        use->value);
    close(directory);
    return 0;
}

/* Parses --source-map OLD=NEW, and splits the text in place. */
static int add_source_map(const struct option_use *use)
{
    struct serving_options *options = use->group;
    char *equals = strchr(use->value, '=');
    if (!equals || equals == use->value || !equals[1])
        return ui_usage(use->command, "'%s' does not map a directory; give OLD=NEW, such as /build/src=/home/me/src",
                        use->value);
    *equals = '\0';
    return array_push(&options->source_maps, (struct source_map){.from = use->value, .to = equals + 1})
               ? 0
               : ui_fail("out of memory");
}

const struct option_row serving_option_rows[] = {
    {"no-open", 'n', NULL, "do not open a browser", OPTION_FLAG(struct serving_options, no_open), .is_local = true},
    {"port", 'P', "PORT",
     "serve on PORT; with PORT+, on the first free port at or above PORT (3000+); with 0, on any free port",
     .parse = parse_port, .is_local = true},
    {"new-address", 0, NULL, "use a new address for this run only", OPTION_FLAG(struct serving_options, new_address),
     .is_local = true},
    {"no-cache", 0, NULL, "neither read nor write the symbol cache, ~/.cache/prof",
     OPTION_FLAG(struct serving_options, no_cache)},
    {"source-map", 0, "OLD=NEW", "map the source directory OLD to NEW; can be given several times",
     .parse = add_source_map, .is_local = true},
    {"ui", 0, "hosted|DIR", "open the profile in the Firefox Profiler, or in the front end in DIR", .parse = parse_ui,
     .choices = "hosted", .is_local = true},
    {.name = NULL},
};

bool has_server_options(const struct serving_options *options)
{
    return options->no_open || options->has_port || options->ui || options->new_address;
}

enum { ENCODED_SIZE = 256, HOSTED_URL_SIZE = 1024 };

/* Percent-encodes a text for a path component of a URL, including ':' and '/'. */
static void encode_path_component(char encoded[ENCODED_SIZE], const char *text)
{
    size_t used = 0;
    for (; *text && used + sizeof("%3A") <= ENCODED_SIZE; text++) {
        const char *code = *text == ':' ? "%3A" : *text == '/' ? "%2F" : NULL;
        if (code)
            used += (size_t)snprintf(encoded + used, ENCODED_SIZE - used, "%s", code);
        else
            encoded[used++] = *text;
    }
    encoded[used] = '\0';
}

/* Writes the URL of the Firefox Profiler's page, which fetches the profile and its symbols from `own`,
 * "http://.../". */
static const char *format_hosted_url(char url[HOSTED_URL_SIZE], const char *own)
{
    char encoded[ENCODED_SIZE];
    encode_path_component(encoded, own);
    int without_slash = (int)(strlen(encoded) - strlen("%2F"));
    snprintf(url, HOSTED_URL_SIZE, SERVE_HOSTED_ORIGIN "/from-url/%sprofile.json/?symbolServer=%.*s", encoded,
             without_slash, encoded);
    return url;
}

static bool is_ignored(int signal_number)
{
    struct sigaction action;
    return sigaction(signal_number, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

/* Waits for one of the signals, at most `seconds`, or 0 (without a limit). */
static bool wait_for_signal(const sigset_t *signals, time_t seconds)
{
    const struct timespec limit = {.tv_sec = seconds};
    int received;
    do
        received = sigtimedwait(signals, NULL, seconds ? &limit : NULL);
    while (received < 0 && errno == EINTR);
    return received >= 0;
}

void print_tunnel(uint16_t port)
{
    /* address and port of the client, and of this machine (ssh(1)) */
    const char *connection = getenv("SSH_CONNECTION"), *user = getenv("USER");
    char host[64], other_port[16] = "";
    unsigned ssh_port;
    if (!connection || sscanf(connection, "%*s %*s %63s %u", host, &ssh_port) != 2)
        return;
    if (ssh_port != 22)
        snprintf(other_port, sizeof(other_port), "-p %u ", ssh_port);
    ui_print_message(
        "this command on your machine makes the address reachable there: ssh -N -L %u:127.0.0.1:%u %s%s%s%s", port,
        port, other_port, user ? user : "", user ? "@" : "", host);
}

/* Prints the address, opens the browser if a desktop is running, and waits for a signal. */
static void show_and_wait(const struct serving_options *options, struct server *server, const sigset_t *ending)
{
    char hosted[HOSTED_URL_SIZE];
    struct browser_file file = {.path = ""};
    const char *url = is_hosted(options) ? format_hosted_url(hosted, serve_get_url(server)) : serve_get_url(server);
    ui_print_message("%s  (Ctrl+C ends it)", url);
    print_tunnel(serve_get_port(server));
    if (!options->no_open && browser_has_desktop())
        open_browser(&file, url);
    bool has_ended = file.path[0] && wait_for_signal(ending, BROWSER_SECONDS);
    remove_browser_file(&file);
    if (!has_ended)
        wait_for_signal(ending, 0);
}

int serve_and_wait(const char *profile_path, const struct serving_options *options, struct symbol_options *symbols)
{
    int profile_fd = open(profile_path, O_RDONLY | O_CLOEXEC);
    if (profile_fd < 0)
        return ui_fail("cannot open %s: %s", profile_path, strerror(errno));
    return serve_open_and_wait(profile_fd, profile_fd, options, symbols);
}

/* Returns whether the profile gets the same address each time. With the Firefox Profiler's page, prof uses a new
 * address, because that page sends the address to its server. */
static bool find_address(struct lasting_address *lasting, int original_fd, const struct serving_options *options)
{
    struct directory_path path;
    struct error err;
    const char *directory = options->new_address || is_hosted(options) ? NULL : find_state_directory(&path);
    if (!directory)
        return false;
    if (lasting_address_open(lasting, directory, original_fd, &err) == 0)
        return true;
    ui_print_message("cannot reuse addresses: %s", err.text);
    return false;
}

int serve_open_and_wait(int profile_fd, int original_fd, const struct serving_options *options,
                        struct symbol_options *symbols)
{
    struct lasting_address lasting;
    bool lasts = find_address(&lasting, original_fd, options);
    sigset_t ending, before;
    sigemptyset(&ending);
    sigaddset(&ending, SIGINT);
    sigaddset(&ending, SIGTERM);
    if (!is_ignored(SIGHUP)) /* nohup ignores SIGHUP */
        sigaddset(&ending, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &ending, &before);

    struct directory_path path;
    struct serve_options serve = {
        .assets = page_assets,
        .asset_count = page_asset_count,
        .token = lasts ? lasting.token : NULL,
        .first_choice = lasts && !options->has_port ? lasting.port : 0,
        .port = options->port,
        .search_port = options->search_port,
        .cache_directory = options->no_cache ? NULL : find_cache_directory(&path),
        .search = &symbols->search,
        .source_maps = options->source_maps.data,
        .source_map_count = options->source_maps.length,
    };
    if (is_hosted(options))
        serve.page_origin = SERVE_HOSTED_ORIGIN;
    else
        serve.directory = options->ui;
    struct error err = {0};
    struct server *server;
    symbols->leave_interrupts = true;
    int code = serve_start(&server, &serve, profile_fd, &err);
    if (!code && lasts && !options->has_port)
        lasting_address_keep_port(&lasting, serve_get_port(server), SERVE_FIRST_PORT);
    if (!code) {
        show_and_wait(options, server, &ending);
        symbol_options_stop(symbols);
        serve_stop(server);
    }
    if (lasts)
        lasting_address_close(&lasting);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return code ? ui_fail_with_error(&err) : EXIT_SUCCESS;
}
