#include "serve/live_events.h"

struct live_page {
    struct live *live;
    struct MHD_Connection *connection;
    unsigned number, beats; /* values of live->number and live->beats at the last event sent to this page */
    bool is_asleep;
};

void live_init(struct live *live)
{
    *live = (struct live){0};
    pthread_mutex_init(&live->lock, NULL);
}

/* Returns the next bytes for a page. libmicrohttpd calls this function when the connection accepts bytes. The
 * connection of a page that does not read times out. Without new data, this function suspends the connection until
 * wake_all_pages(). */
static ssize_t next_event(void *context, uint64_t at, char *buffer, size_t size)
{
    (void)at;
    struct live_page *page = context;
    struct live *live = page->live;
    int length = 0;
    pthread_mutex_lock(&live->lock);
    if (live->is_ending) {
        length = MHD_CONTENT_READER_END_OF_STREAM;
    } else if (live->number && page->number != live->number) {
        length = snprintf(buffer, size, "id: %u\ndata: %s\n\n", live->number, live->state);
        if ((size_t)length >= size)
            length = MHD_CONTENT_READER_END_WITH_ERROR;
    } else if (page->beats != live->beats) {
        length = snprintf(buffer, size, ":\n\n");
    } else {
        page->is_asleep = true;
        microhttpd.MHD_suspend_connection(page->connection);
    }
    page->number = live->number;
    page->beats = live->beats;
    pthread_mutex_unlock(&live->lock);
    return length;
}

static void remove_page(void *context)
{
    struct live_page *page = context;
    struct live *live = page->live;
    pthread_mutex_lock(&live->lock);
    for (size_t i = 0; i < LIVE_PAGES_MAX; i++)
        if (live->pages[i] == page)
            live->pages[i] = NULL;
    pthread_mutex_unlock(&live->lock);
    free(page);
}

struct MHD_Response *live_add_page(struct live *live, struct MHD_Connection *connection)
{
    enum { BLOCK = LIVE_STATE_SIZE + 64 };
    struct live_page *page = calloc(1, sizeof(*page));
    size_t place = 0;
    if (!page)
        return NULL;
    pthread_mutex_lock(&live->lock);
    while (place < LIVE_PAGES_MAX && live->pages[place])
        place++;
    bool has_place = place < LIVE_PAGES_MAX && !live->is_ending;
    if (has_place)
        live->pages[place] = page;
    *page =
        (struct live_page){.live = live, .connection = connection, .number = live->number - 1, .beats = live->beats};
    pthread_mutex_unlock(&live->lock);
    struct MHD_Response *response =
        has_place ? microhttpd.MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK, next_event, page, remove_page)
                  : NULL;
    if (!response)
        remove_page(page);
    return response;
}

/* Resumes all suspended connections. The caller holds the lock. */
static void wake_all_pages(struct live *live)
{
    for (size_t i = 0; i < LIVE_PAGES_MAX; i++) {
        struct live_page *page = live->pages[i];
        if (!page || !page->is_asleep)
            continue;
        page->is_asleep = false;
        microhttpd.MHD_resume_connection(page->connection);
    }
}

void live_publish(struct live *live, const char *state)
{
    pthread_mutex_lock(&live->lock);
    snprintf(live->state, sizeof(live->state), "%s", state);
    live->number++;
    wake_all_pages(live);
    pthread_mutex_unlock(&live->lock);
}

void live_send_heartbeat(struct live *live)
{
    pthread_mutex_lock(&live->lock);
    live->beats++;
    wake_all_pages(live);
    pthread_mutex_unlock(&live->lock);
}

unsigned live_count_pages(struct live *live)
{
    unsigned count = 0;
    pthread_mutex_lock(&live->lock);
    for (size_t i = 0; i < LIVE_PAGES_MAX; i++)
        count += live->pages[i] != NULL;
    pthread_mutex_unlock(&live->lock);
    return count;
}

void live_end(struct live *live)
{
    pthread_mutex_lock(&live->lock);
    live->is_ending = true;
    wake_all_pages(live);
    pthread_mutex_unlock(&live->lock);
}

void live_destroy(struct live *live)
{
    pthread_mutex_destroy(&live->lock);
}
