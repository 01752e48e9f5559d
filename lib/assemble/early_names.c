/*
 * A thread that looks at the spool now and then, as far as it is written, and lets a symbolizer learn the addresses
 * that are new. Its looks become rarer, so that a long recording is not followed all the time.
 *
 * It must not cost the target anything: it has the scheduling policy SCHED_IDLE, so it gets a processor that is idle,
 * or next to nothing. For the same reason nobody may ever wait for it long, and it shares nothing with anyone but the
 * symbolizer, which belongs to it while it looks. One who comes for the symbolizer then waits a moment, and else goes
 * without it. The thread frees what is left when it gets to it.
 */
#include "assemble/early_names.h"

#include "assemble/naming.h"
#include "assemble/replay.h"
#include "base/clock.h"
#include "symbol/debug_search.h"
#include "symbol/demangle.h"
#include "symbol/parallel.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    FIRST_LOOK_MS = 300, /* spools are written out after a quarter of a second, and then each second */
    SECOND_LOOK_MS = 1000,
    RAREST_LOOK_MS = 30000,
    PATIENCE_MS = 20
};

struct early_names {
    char *spool_path;
    struct replay replay;
    size_t frames_known;
    atomic_bool is_stopped; /* no more looks */

    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct symbolizer *symbolizer;
    struct debug_search search; /* the symbolizer's as long as it is here */
    bool is_looking;            /* the symbolizer is the thread's */
    bool is_left;               /* and everything else is, to free it */
};

/* Of its own, for a thread that ends when it gets to it; without the servers. */
static bool copy_search(struct debug_search *copy, const struct debug_search *search)
{
    if (!search)
        return true;
    const char **folders = calloc(search->folder_count + 1, sizeof(*folders));
    if (!folders)
        return false;
    if (search->folder_count)
        memcpy(folders, search->folders, search->folder_count * sizeof(*folders));
    *copy = (struct debug_search){.folders = folders, .folder_count = search->folder_count, .root = search->root};
    return true;
}

static void early_names_free(struct early_names *early)
{
    replay_destroy(&early->replay);
    symbolizer_free(early->symbolizer);
    free((void *)early->search.folders);
    pthread_cond_destroy(&early->changed);
    pthread_mutex_destroy(&early->lock);
    free(early->spool_path);
    free(early);
}

/* What is new is looked up; what lies around it only where a processor is idle: a thread that is kept waiting could not
 * end soon when it is told to, and all would be lost. */
static bool learn(struct early_names *early, size_t first)
{
    uint64_t start = monotonic_ns(), used = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    if (name_ahead(&early->replay, first, early->symbolizer, &early->is_stopped, NULL) != 0)
        return false;
    bool is_idle = clock_ns(CLOCK_THREAD_CPUTIME_ID) - used > (monotonic_ns() - start) / 2;
    return !is_idle || symbolizer_learn_more(early->symbolizer, &early->is_stopped, NULL) == 0;
}

/* False if there is nothing more to come of it. */
static bool look(struct early_names *early)
{
    struct replay *replay = &early->replay;
    if (!replay->reader && replay_start(replay, early->spool_path, NULL) != 0)
        return true; /* it is not there yet */
    if (replay_go_on(replay, NULL) != 0)
        return false;
    size_t first = early->frames_known;
    early->frames_known = replay->frames.length;
    return replay->frames.length == first || learn(early, first);
}

/* Until something has changed, or the time is over; false then. Under the lock. */
static bool wait_for_change(struct early_names *early, const struct timespec *end)
{
    return pthread_cond_timedwait(&early->changed, &early->lock, end) == 0;
}

static void look_and_tell(struct early_names *early)
{
    early->is_looking = true;
    pthread_mutex_unlock(&early->lock);
    bool go_on = look(early);
    pthread_mutex_lock(&early->lock);
    early->is_looking = false;
    if (!go_on)
        early->is_stopped = true;
    pthread_cond_signal(&early->changed);
}

static void *run(void *context)
{
    struct early_names *early = context;
    unsigned ms = FIRST_LOOK_MS, next_ms = SECOND_LOOK_MS;
    pthread_mutex_lock(&early->lock);
    while (!early->is_left) {
        struct timespec next = monotonic_after_ms(ms);
        while (!early->is_left && wait_for_change(early, &next))
            ;
        if (!early->is_left && !early->is_stopped)
            look_and_tell(early);
        ms = next_ms;
        next_ms = 2 * ms < RAREST_LOOK_MS ? 2 * ms : RAREST_LOOK_MS;
    }
    pthread_mutex_unlock(&early->lock);
    early_names_free(early);
    return NULL;
}

struct idle_work {
    void *(*body)(void *context);
    void *context;
};

static void *run_when_idle(void *context)
{
    struct idle_work work = *(struct idle_work *)context;
    free(context);
    sched_setscheduler(0, SCHED_IDLE, &(struct sched_param){.sched_priority = 0});
    return work.body(work.context);
}

static bool start_thread(void *(*body)(void *context), void *context)
{
    struct idle_work *work = malloc(sizeof(*work));
    if (!work)
        return false;
    *work = (struct idle_work){body, context};
    bool started = thread_start_alone(run_when_idle, work, DEMANGLE_STACK_SIZE);
    if (!started)
        free(work);
    return started;
}

struct early_names *early_names_start(const char *spool_path, const struct symbolizer_options *options)
{
    struct early_names *early = calloc(1, sizeof(*early));
    if (!early)
        return NULL;
    early->replay.addresses_only = true;
    condition_init(&early->changed);
    pthread_mutex_init(&early->lock, NULL);
    early->spool_path = strdup(spool_path);
    struct symbolizer_options own = *options;
    own.search = options->search ? &early->search : NULL;
    if (copy_search(&early->search, options->search))
        early->symbolizer = symbolizer_new(&own, NULL);
    if (early->spool_path && early->symbolizer && start_thread(run, early))
        return early;
    early_names_free(early);
    return NULL;
}

void early_names_stop(struct early_names *early)
{
    if (early)
        early->is_stopped = true;
}

struct symbolizer *early_names_take(struct early_names *early)
{
    if (!early)
        return NULL;
    struct symbolizer *symbolizer = NULL;
    struct timespec end = monotonic_after_ms(PATIENCE_MS);
    pthread_mutex_lock(&early->lock);
    early->is_stopped = true;
    while (early->is_looking && wait_for_change(early, &end))
        ;
    if (!early->is_looking) {
        symbolizer = early->symbolizer;
        early->symbolizer = NULL;
        symbolizer_search(symbolizer, NULL);
    }
    early->is_left = true;
    pthread_cond_signal(&early->changed);
    pthread_mutex_unlock(&early->lock);
    return symbolizer;
}

/* ---- afterwards ---- */

struct later_names {
    struct symbolizer *symbolizer;
    struct debug_search search;
};

static void later_names_free(struct later_names *later)
{
    symbolizer_free(later->symbolizer);
    free((void *)later->search.folders);
    free(later);
}

static void *learn_more(void *context)
{
    struct later_names *later = context;
    symbolizer_learn_more(later->symbolizer, NULL, NULL);
    later_names_free(later);
    return NULL;
}

void names_go_on(struct symbolizer *symbolizer, const struct debug_search *search)
{
    struct later_names *later = symbolizer ? calloc(1, sizeof(*later)) : NULL;
    if (!later) {
        symbolizer_free(symbolizer);
        return;
    }
    later->symbolizer = symbolizer;
    symbolizer_search(symbolizer, &later->search);
    if (!copy_search(&later->search, search) || !start_thread(learn_more, later))
        later_names_free(later);
}
