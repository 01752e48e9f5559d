#include "cmd/push/pushing.h"

#include "cmd/common/directories.h"
#include "cmd/common/ui.h"

#include "os/clock.h"
#include "os/directory.h"
#include "base/hash.h"
#include "push/backoff.h"
#include "push/push_answer.h"
#include "push/push_profile.h"

#include <sys/random.h>
#include <unistd.h>

#define MS UINT64_C(1000000)

enum { LOCATION_SHOWN = 200 }; /* characters */

/* $XDG_STATE_HOME/prof/push. Creates the parent directories first, because file_directory_open() creates at most three
 * levels. */
static bool find_queue_directory(char *path, size_t size)
{
    struct directory_path state;
    struct error ignored;
    if (!find_state_directory(&state))
        return false;
    int parent = file_directory_open(state.text, &ignored);
    if (parent >= 0)
        close(parent);
    int length = snprintf(path, size, "%s/push", state.text);
    return length > 0 && (size_t)length < size;
}

int pushing_open(struct pushing *pushing, const struct push_options *options)
{
    struct error err = {0};
    char own[PATH_MAX];
    *pushing = (struct pushing){.options = options};
    signal(SIGPIPE, SIG_IGN); /* the TLS library writes to connections that the server has closed */
    if (!options->queue && !find_queue_directory(own, sizeof(own)))
        return ui_fail("no directory for the queue: neither XDG_STATE_HOME nor HOME is set; give one with --queue");
    if (push_queue_open(&pushing->queue, options->queue ? options->queue : own, options->queue_size, &err) ||
        http_client_new(&pushing->client, &err))
        return ui_fail_with_error(&err);
    return 0;
}

void pushing_close(struct pushing *pushing)
{
    push_queue_close(pushing->queue);
    http_client_free(pushing->client);
    *pushing = (struct pushing){0};
}

static uint64_t read_random_number(void)
{
    uint64_t number;
    return getrandom(&number, sizeof(number), GRND_NONBLOCK) == (ssize_t)sizeof(number)
               ? number
               : hash_mix(monotonic_ns(), (uint64_t)getpid());
}

int pushing_add(struct pushing *pushing, struct profile *profile, struct time_range range, struct error *err)
{
    uint32_t dropped = 0;
    struct text_buffer bytes = {0};
    const struct push_options *options = pushing->options;
    const uint64_t id[] = {read_random_number(), read_random_number()};
    struct otlp_sending sending = {
        .labels = options->labels.data, .label_count = options->labels.length, .range = range};
    _Static_assert(sizeof(sending.id) == sizeof(id), "a profile id has two random numbers");
    memcpy(sending.id, id, sizeof(sending.id));
    int code = push_profile_pack(profile, &sending, &bytes, err);
    if (!code)
        code = push_queue_add(pushing->queue, options->url, bytes.data, bytes.length, &dropped, err);
    array_free(&bytes);
    if (dropped)
        ui_print_message("prof dropped the oldest %u profile%s, because the queue is full (--queue-size)", dropped,
                         dropped == 1 ? "" : "s");
    pushing->dropped += dropped;
    return code;
}

/* ---- sending ---- */

/* The result of one try. */
struct
try {
    enum push_outcome outcome;
    uint64_t retry_after; /* s */
    uint64_t rejected;
    char why[PUSH_SENTENCE_MAX + 256]; /* on failure, such as "the server answers 400 Bad Request: ..." */
};

static int send_item(struct pushing *pushing, const struct push_item *item, struct try *try)
{
    struct http_answer *http = malloc(sizeof(*http));
    struct push_answer answer = {0};
    struct error err = {0};
    *try = (struct try){.outcome = PUSH_LATER};
    if (!http || http_client_post(pushing->client, &pushing->options->server, item->bytes, item->size, http, &err)) {
        free(http);
        return ui_fail("%s", err.text[0] ? err.text : "out of memory");
    }
    if (http->status) {
        push_answer_read(&answer, http->status, http->type, http->body, http->body_size);
        try->outcome = answer.outcome;
        try->retry_after = http->retry_after;
        try->rejected = answer.rejected;
        const char *name = push_get_status_name(http->status);
        bool is_taken = answer.outcome == PUSH_TAKEN;
        if (is_taken)
            snprintf(try->why, sizeof(try->why), "%s", answer.sentence);
        else
            snprintf(try->why, sizeof(try->why), "the server answers %ld%s%s%s%.*s%s%s%s", http->status,
                     *name ? " " : "", name, http->location[0] ? " to " : "", LOCATION_SHOWN, http->location,
                     http->location[0] ? "; give this address" : "", answer.sentence[0] ? ": " : "", answer.sentence);
    } else {
        try->outcome = http->is_lasting ? PUSH_BARRED : PUSH_LATER;
        snprintf(try->why, sizeof(try->why), "%.*s%s", PUSH_SENTENCE_MAX, http->problem.text,
                 push_address_is_of_grpc(pushing->options->url)
                     ? " (4317 is usually the port of OTLP over gRPC, and 4318 the port of OTLP over HTTP)"
                     : "");
    }
    free(http);
    return 0;
}

static bool is_last_attempt(const struct pushing *pushing)
{
    return pushing->hurry && atomic_load(pushing->hurry);
}

/* Returns false if the caller must not try again. */
static bool sleep_ms(const struct pushing *pushing, uint64_t ms)
{
    enum { STEP_MS = 100 };
    uint64_t end = monotonic_ns() + ms * MS;
    sigset_t none;
    sigemptyset(&none);
    for (uint64_t now; !is_last_attempt(pushing) && (now = monotonic_ns()) < end;) {
        uint64_t step = end - now < STEP_MS * MS ? end - now : STEP_MS * MS;
        const struct timespec time = {.tv_nsec = (long)step};
        if (sigtimedwait(pushing->ending ? pushing->ending : &none, NULL, &time) > 0)
            return false;
    }
    return !is_last_attempt(pushing);
}

/* Prints "cannot send to URL: REASON", followed by the next step (such as "; retrying"). */
static void print_failure(struct pushing *pushing, const char *why, const char *next)
{
    const char *url = pushing->options->url;
    bool is_known = strncmp(pushing->last_failure, why, sizeof(pushing->last_failure) - 1) == 0;
    if (pushing->is_background && is_known)
        return;
    snprintf(pushing->last_failure, sizeof(pushing->last_failure), "%s", why);
    ui_print_message("cannot send to %.*s: %s%s", measure_url_without_query(url), url, why, next);
}

static void print_answer(struct pushing *pushing, const struct try *try)
{
    pushing->sent++;
    if (pushing->last_failure[0] && pushing->is_background)
        ui_print_message("the server accepts profiles again");
    pushing->last_failure[0] = '\0';
    if (try->rejected)
        ui_print_message("the server rejected %llu part%s of a profile%s%s", (unsigned long long)try->rejected,
                         try->rejected == 1 ? "" : "s", try->why[0] ? ": " : "", try->why);
    else if (try->why[0])
        ui_print_message("the server accepted a profile with a message: %s", try->why);
}

static void print_queue_size(struct pushing *pushing)
{
    struct push_waiting waiting;
    struct error err = {0};
    const char *url = pushing->options->url;
    if (push_queue_count(pushing->queue, url, &waiting, &err))
        return;
    if (waiting.count == 1)
        ui_print_message(
            "1 profile waits in the queue; the next push to this address or 'prof push --queued' sends it");
    else if (waiting.count)
        ui_print_message(
            "%u profiles wait in the queue; the next push to this address or 'prof push --queued' sends them",
            waiting.count);
    if (waiting.others && !pushing->is_quiet)
        ui_print_message("%u profile%s in the queue for %s: 'prof push --queued %.*s' sends %s", waiting.others,
                         waiting.others == 1 ? " waits" : "s wait",
                         waiting.others == 1 ? "another address" : "other addresses",
                         measure_url_without_query(waiting.other), waiting.other, waiting.others == 1 ? "it" : "them");
}

/* Waits before the next attempt. Returns false at the time limit for retries. */
static bool wait_before_retry(struct pushing *pushing, const struct try *try, uint32_t failures, uint64_t deadline)
{
    char next[64] = "";
    uint64_t ms = backoff_get_ms(failures, try->retry_after, read_random_number()), now = monotonic_ns();
    if (deadline < now || ms * MS > deadline - now) {
        if (try->retry_after)
            snprintf(next, sizeof(next), "; the server asks to wait for %llu s", (unsigned long long)try->retry_after);
        print_failure(pushing, try->why, next);
        return false;
    }
    if (failures == 1)
        print_failure(pushing, try->why, "; retrying");
    return sleep_ms(pushing, ms);
}

void pushing_print_sent(const struct pushing *pushing)
{
    const char *url = pushing->options->url;
    if (pushing->sent && !pushing->is_quiet)
        ui_print_message("sent %u profile%s to %.*s", pushing->sent, pushing->sent == 1 ? "" : "s",
                         measure_url_without_query(url), url);
}

int pushing_send(struct pushing *pushing, uint64_t retry)
{
    struct push_item item;
    struct error err = {0};
    struct try try;
    const char *url = pushing->options->url;
    uint32_t failures = 0, refused = pushing->refused;
    uint64_t deadline = 0;
    bool is_sending = true;
    int code = 0;
    while (is_sending && !is_last_attempt(pushing) &&
           (code = push_queue_take(pushing->queue, url, "", &item, &err)) > 0) {
        if (send_item(pushing, &item, &try)) {
            push_queue_return(pushing->queue, &item, false);
            return EXIT_FAILURE;
        }
        push_queue_return(pushing->queue, &item, try.outcome == PUSH_TAKEN || try.outcome == PUSH_REFUSED);
        if (try.outcome == PUSH_LATER) {
            uint64_t now = monotonic_ns();
            if (!failures)
                deadline = retry > UINT64_MAX - now ? UINT64_MAX : now + retry;
            is_sending = wait_before_retry(pushing, &try, ++failures, deadline);
            continue;
        }
        failures = 0;
        if (try.outcome == PUSH_TAKEN) {
            print_answer(pushing, &try);
        } else if (try.outcome == PUSH_REFUSED) {
            pushing->refused++;
            ui_print_message("%.*s rejected a profile: %s", measure_url_without_query(url), url, try.why);
        } else {
            print_failure(pushing, try.why, "");
            is_sending = false;
        }
    }
    if (code < 0)
        ui_fail_with_error(&err);
    if (!pushing->is_background)
        print_queue_size(pushing);
    return code < 0 || !is_sending || pushing->refused > refused ? EXIT_FAILURE : EXIT_SUCCESS;
}
