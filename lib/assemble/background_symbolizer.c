/*
 * A thread that looks at the spool now and then, as far as it is written, and lets a symbolizer learn the addresses
 * that are new. Its looks become rarer, so that a long recording is not followed all the time.
 *
 * It must not cost the target anything: it has the scheduling policy SCHED_IDLE, so it gets a processor that is idle,
 * or next to nothing. For the same reason nobody may ever wait for it long, and it shares nothing with anyone but the
 * symbolizer, which belongs to it while it looks. One who comes for the symbolizer then waits a moment, and else goes
 * without it. The thread frees what is left when it gets to it.
 */
#include "assemble/background_symbolizer.h"

#include "assemble/symbolization.h"
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

struct background_symbolizer {
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

static void background_symbolizer_free(struct background_symbolizer *background)
{
    replay_destroy(&background->replay);
    symbolizer_free(background->symbolizer);
    free((void *)background->search.folders);
    pthread_cond_destroy(&background->changed);
    pthread_mutex_destroy(&background->lock);
    free(background->spool_path);
    free(background);
}

/* What is new is looked up; what lies around it only where a processor is idle: a thread that is kept waiting could not
 * end soon when it is told to, and all would be lost. */
static bool learn(struct background_symbolizer *background, size_t first)
{
    uint64_t start = monotonic_ns(), used = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    if (prefetch_symbols(&background->replay, first, background->symbolizer, &background->is_stopped, NULL) != 0)
        return false;
    bool is_idle = clock_ns(CLOCK_THREAD_CPUTIME_ID) - used > (monotonic_ns() - start) / 2;
    return !is_idle || symbolizer_learn_more(background->symbolizer, &background->is_stopped, NULL) == 0;
}

/* False if there is nothing more to come of it. */
static bool look(struct background_symbolizer *background)
{
    struct replay *replay = &background->replay;
    if (!replay->reader && replay_start(replay, background->spool_path, NULL) != 0)
        return true; /* it is not there yet */
    if (replay_go_on(replay, NULL) != 0)
        return false;
    size_t first = background->frames_known;
    background->frames_known = replay->frames.length;
    return replay->frames.length == first || learn(background, first);
}

/* Until something has changed, or the time is over; false then. Under the lock. */
static bool wait_for_change(struct background_symbolizer *background, const struct timespec *end)
{
    return pthread_cond_timedwait(&background->changed, &background->lock, end) == 0;
}

static void look_and_tell(struct background_symbolizer *background)
{
    background->is_looking = true;
    pthread_mutex_unlock(&background->lock);
    bool go_on = look(background);
    pthread_mutex_lock(&background->lock);
    background->is_looking = false;
    if (!go_on)
        background->is_stopped = true;
    pthread_cond_signal(&background->changed);
}

static void *run(void *context)
{
    struct background_symbolizer *background = context;
    unsigned ms = FIRST_LOOK_MS, next_ms = SECOND_LOOK_MS;
    pthread_mutex_lock(&background->lock);
    while (!background->is_left) {
        struct timespec next = monotonic_after_ms(ms);
        while (!background->is_left && wait_for_change(background, &next))
            ;
        if (!background->is_left && !background->is_stopped)
            look_and_tell(background);
        ms = next_ms;
        next_ms = 2 * ms < RAREST_LOOK_MS ? 2 * ms : RAREST_LOOK_MS;
    }
    pthread_mutex_unlock(&background->lock);
    background_symbolizer_free(background);
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

struct background_symbolizer *background_symbolizer_start(const char *spool_path,
                                                          const struct symbolizer_options *options)
{
    struct background_symbolizer *background = calloc(1, sizeof(*background));
    if (!background)
        return NULL;
    background->replay.addresses_only = true;
    condition_init(&background->changed);
    pthread_mutex_init(&background->lock, NULL);
    background->spool_path = strdup(spool_path);
    struct symbolizer_options own = *options;
    own.search = options->search ? &background->search : NULL;
    if (copy_search(&background->search, options->search))
        background->symbolizer = symbolizer_new(&own, NULL);
    if (background->spool_path && background->symbolizer && start_thread(run, background))
        return background;
    background_symbolizer_free(background);
    return NULL;
}

void background_symbolizer_stop(struct background_symbolizer *background)
{
    if (background)
        background->is_stopped = true;
}

struct symbolizer *background_symbolizer_take(struct background_symbolizer *background)
{
    if (!background)
        return NULL;
    struct symbolizer *symbolizer = NULL;
    struct timespec end = monotonic_after_ms(PATIENCE_MS);
    pthread_mutex_lock(&background->lock);
    background->is_stopped = true;
    while (background->is_looking && wait_for_change(background, &end))
        ;
    if (!background->is_looking) {
        symbolizer = background->symbolizer;
        background->symbolizer = NULL;
        symbolizer_search(symbolizer, NULL);
    }
    background->is_left = true;
    pthread_cond_signal(&background->changed);
    pthread_mutex_unlock(&background->lock);
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

void background_symbolizer_continue(struct symbolizer *symbolizer, const struct debug_search *search)
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
