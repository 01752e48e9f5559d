/*
 * One thread handles the requests in turn, because a single request already uses all processors.
 *
 * A post belongs to the server's thread until it is queued, to the worker until its connection is resumed, and then to
 * the server's thread again. The lock of the queue transfers the ownership. libmicrohttpd neither frees nor times out a
 * suspended connection, so the post stays valid meanwhile, even if the client disconnects.
 */
#include "serve/post.h"

#include "base/array.h"
#include "os/file_io.h"
#include "serve/api_request.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

struct post {
    struct MHD_Connection *connection;
    const struct post_handler *handler;
    ARRAY(char) body;
    int file;          /* file with the body, for handlers that read a file; otherwise -1 */
    uint64_t received; /* bytes of the body, including dropped ones */
    int problem;       /* 0, or the error that truncated the body: -E2BIG or -ENOMEM */
    bool is_answered;
    struct api_answer answer;
    struct post *next; /* the next post in the queue */
};

struct post_worker {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct post *first, **last; /* the queue */
    atomic_bool ending;         /* written under the lock, read without the lock by the current request */
    bool has_ended;
    int profile_fd;
    int changed_fd; /* descriptor of the new profile, protected by the lock, or -1 for no change */
    int own_fd;     /* profile_fd if the worker must close it, which it must after a change; otherwise -1 */
    bool is_loaded; /* `api` has the libraries of the current profile */
    struct symbol_api api;
};

/* ---- a post ---- */

uint64_t get_post_limit(const struct post_handler *handler)
{
    return handler->file ? PROFILE_BODY_MAX : API_BODY_READ_MAX;
}

struct post *post_new(struct MHD_Connection *connection, const struct post_handler *handler)
{
    struct post *post = calloc(1, sizeof(*post));
    if (!post)
        return NULL;
    post->connection = connection;
    post->handler = handler;
    post->file = handler->file ? memfd_create("posted", MFD_CLOEXEC) : -1;
    if (handler->file && post->file < 0)
        post->problem = -errno;
    return post;
}

void post_free(struct post *post)
{
    if (!post)
        return;
    array_free(&post->body);
    if (post->file >= 0)
        close(post->file);
    api_answer_destroy(&post->answer);
    free(post);
}

bool post_append(struct post *post, const char *bytes, size_t size)
{
    post->received += size;
    if (post->handler->file) {
        if (!post->problem)
            post->problem = file_write(post->file, bytes, size);
        return post->received <= PROFILE_BODY_MAX;
    }
    if (post->received > API_BODY_MAX)
        post->problem = -E2BIG;
    else if (!array_append(&post->body, bytes, size))
        post->problem = -ENOMEM;
    if (post->problem) {
        array_free(&post->body);
        return post->received <= API_BODY_READ_MAX;
    }
    return true;
}

static void answer_queued_with_error(struct post *post, const struct error *why)
{
    api_answer_error(&post->answer, why);
    post->is_answered = true;
}

static const struct error too_large = {POST_TOO_LARGE}, ending = {"prof is ending"};

/* ---- the worker ---- */

static bool load(struct post_worker *worker, struct error *err)
{
    pthread_mutex_lock(&worker->lock);
    int changed = worker->changed_fd;
    worker->changed_fd = -1;
    pthread_mutex_unlock(&worker->lock);
    if (changed >= 0) {
        served_libs_destroy(&worker->api.libs);
        worker->api.libs = (struct served_libs){0};
        worker->is_loaded = false;
        if (worker->own_fd >= 0)
            close(worker->own_fd);
        worker->profile_fd = worker->own_fd = changed;
    }
    if (!worker->is_loaded)
        worker->is_loaded = served_libs_load(&worker->api.libs, worker->profile_fd, &worker->ending, err) == 0;
    worker->api.profile_fd = worker->profile_fd;
    if (!worker->is_loaded)
        served_libs_destroy(&worker->api.libs);
    return worker->is_loaded;
}

static void compute_answer(struct post_worker *worker, struct post *post)
{
    struct error err = {""};
    if (load(worker, &err) && post->handler->file)
        post->handler->file(&worker->api, post->file, &post->answer);
    else if (worker->is_loaded)
        post->handler->body(&worker->api, post->body.data, post->body.length, &post->answer);
    else
        api_answer_error(&post->answer, &err);
    array_free(&post->body);
    post->is_answered = true;
}

/* Waits for the next post of the queue. Returns NULL when the worker must end. */
static struct post *wait_for_post(struct post_worker *worker)
{
    pthread_mutex_lock(&worker->lock);
    while (!worker->first && !worker->ending)
        pthread_cond_wait(&worker->changed, &worker->lock);
    struct post *post = worker->ending ? NULL : worker->first;
    if (post) {
        worker->first = post->next;
        if (!worker->first)
            worker->last = &worker->first;
    }
    pthread_mutex_unlock(&worker->lock);
    return post;
}

static void *run_worker(void *context)
{
    struct post_worker *worker = context;
    for (struct post *post; (post = wait_for_post(worker)) != NULL;) {
        compute_answer(worker, post);
        microhttpd.MHD_resume_connection(post->connection);
    }
    return NULL;
}

/* Adds a post to the queue. Returns false if the worker is ending. */
static bool enqueue(struct post_worker *worker, struct post *post)
{
    pthread_mutex_lock(&worker->lock);
    bool accepted = !worker->ending;
    if (accepted) {
        microhttpd.MHD_suspend_connection(post->connection);
        *worker->last = post;
        worker->last = &post->next;
        pthread_cond_signal(&worker->changed);
    }
    pthread_mutex_unlock(&worker->lock);
    return accepted;
}

struct api_answer *post_answer(struct post_worker *worker, struct post *post)
{
    if (post->is_answered)
        return &post->answer;
    struct error why;
    if (post->problem == -E2BIG)
        answer_queued_with_error(post, &too_large);
    else if (post->problem && error_set(&why, -post->problem, "%s", strerror(-post->problem)))
        answer_queued_with_error(post, &why);
    else if (!enqueue(worker, post))
        answer_queued_with_error(post, &ending);
    else
        return NULL;
    return &post->answer;
}

static int start_thread(struct post_worker *worker, const struct serve_options *options, struct error *err)
{
    struct symbolizer_options symbols = {.use_cache = true,
                                         .cache_directory = options->cache_directory,
                                         .search = options->search,
                                         .stop = &worker->ending};
    struct symbolizer_options names = {
        .skip_inlines_and_lines = true, .use_cache = true, .search = options->search, .stop = &worker->ending};
    worker->api.symbolizer = symbolizer_new(&symbols);
    worker->api.names = worker->api.symbolizer ? symbolizer_new(&names) : NULL;
    if (!worker->api.names)
        return error_no_memory(err);
    int code = pthread_create(&worker->thread, NULL, run_worker, worker);
    worker->has_ended = code != 0;
    return code ? error_set(err, code, "cannot start the symbolization thread: %s", strerror(code)) : 0;
}

int post_worker_start(struct post_worker **out, int profile_fd, const struct serve_options *options, struct error *err)
{
    struct post_worker *worker = calloc(1, sizeof(*worker));
    *out = NULL;
    if (!worker)
        return error_no_memory(err);
    worker->profile_fd = profile_fd;
    worker->changed_fd = worker->own_fd = -1;
    worker->last = &worker->first;
    pthread_mutex_init(&worker->lock, NULL);
    pthread_cond_init(&worker->changed, NULL);
    worker->has_ended = true; /* without a thread, no post waits */
    worker->api.search = options->search;
    worker->api.control = options->control;
    worker->api.control_context = options->control_context;
    worker->api.source_maps = options->source_maps;
    worker->api.source_map_count = options->source_map_count;
    worker->api.stop = &worker->ending;
    worker->api.is_of_own_page = !options->directory && !options->page_origin;
    int code = start_thread(worker, options, err);
    if (code)
        post_worker_free(worker);
    else
        *out = worker;
    return code;
}

void post_worker_set_profile(struct post_worker *worker, int profile_fd)
{
    pthread_mutex_lock(&worker->lock);
    if (worker->changed_fd >= 0)
        close(worker->changed_fd);
    worker->changed_fd = fcntl(profile_fd, F_DUPFD_CLOEXEC, 0);
    pthread_mutex_unlock(&worker->lock);
}

void post_worker_end(struct post_worker *worker)
{
    if (worker->has_ended)
        return;
    pthread_mutex_lock(&worker->lock);
    worker->ending = true;
    pthread_cond_signal(&worker->changed);
    pthread_mutex_unlock(&worker->lock);
    pthread_join(worker->thread, NULL);
    worker->has_ended = true;
    for (struct post *post = worker->first, *next; post; post = next) {
        next = post->next;
        answer_queued_with_error(post, &ending);
        microhttpd.MHD_resume_connection(post->connection);
    }
    worker->first = NULL;
}

void post_worker_free(struct post_worker *worker)
{
    if (!worker)
        return;
    post_worker_end(worker);
    if (worker->changed_fd >= 0)
        close(worker->changed_fd);
    if (worker->own_fd >= 0)
        close(worker->own_fd);
    served_libs_destroy(&worker->api.libs);
    symbolizer_free(worker->api.symbolizer);
    symbolizer_free(worker->api.names);
    pthread_cond_destroy(&worker->changed);
    pthread_mutex_destroy(&worker->lock);
    free(worker);
}
