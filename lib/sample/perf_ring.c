#include "sample/perf_ring.h"

#include <linux/perf_event.h>
#include <sys/mman.h>
#include <unistd.h>

int perf_ring_map(struct perf_ring *ring, int fd, size_t size, struct error *err)
{
    size_t page_size = (size_t)sysconf(_SC_PAGESIZE);
    void *page = mmap(NULL, page_size + size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (page == MAP_FAILED)
        return error_set(err, errno, "cannot map a ring buffer of %zu KiB: %s", size / 1024, strerror(errno));
    *ring = (struct perf_ring){.page = page, .data = (unsigned char *)page + page_size, .size = size};
    return 0;
}

void perf_ring_unmap(struct perf_ring *ring)
{
    if (ring->page)
        munmap(ring->page, (size_t)(ring->data - (unsigned char *)ring->page) + ring->size);
    ring->page = NULL;
}

uint64_t perf_ring_read_head(const struct perf_ring *ring)
{
    struct perf_event_mmap_page *page = ring->page;
    return __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
}

static void set_tail(struct perf_ring *ring, uint64_t tail)
{
    struct perf_event_mmap_page *page = ring->page;
    ring->tail = tail;
    __atomic_store_n(&page->data_tail, tail, __ATOMIC_RELEASE);
}

bool perf_ring_peek(struct perf_ring *ring, uint64_t head, uint32_t *type, size_t *size)
{
    uint64_t left = head - ring->tail;
    if (left == 0)
        return false;
    struct perf_event_header header = {0};
    if (left <= ring->size && left >= sizeof(header)) /* records are multiples of 8 bytes: a header never wraps */
        memcpy(&header, ring->data + (ring->tail & (ring->size - 1)), sizeof(header));
    if (header.size < sizeof(header) || header.size > left || header.size % 8) {
        ring->damaged++;
        set_tail(ring, head);
        return false;
    }
    *type = header.type;
    *size = header.size;
    return true;
}

bool perf_ring_peek_at(const struct perf_ring *ring, uint64_t position, uint64_t head, uint32_t *type, size_t *size)
{
    uint64_t left = head - position;
    struct perf_event_header header = {0};
    if (left < sizeof(header) || left > ring->size)
        return false;
    perf_ring_copy(ring, position, (unsigned char *)&header, sizeof(header));
    *type = header.type;
    *size = header.size;
    return header.size >= sizeof(header) && header.size <= left && header.size % 8 == 0;
}

void perf_ring_copy(const struct perf_ring *ring, uint64_t position, unsigned char *out, size_t size)
{
    uint64_t start = position & (ring->size - 1), until_end = ring->size - start;
    size_t first = size < until_end ? size : (size_t)until_end;
    memcpy(out, ring->data + start, first);
    memcpy(out + first, ring->data, size - first);
}

uint64_t perf_ring_read_u64(const struct perf_ring *ring, size_t offset)
{
    uint64_t value;
    memcpy(&value, ring->data + ((ring->tail + offset) & (ring->size - 1)), sizeof(value));
    return value;
}

const unsigned char *perf_ring_get_record(const struct perf_ring *ring, size_t size, unsigned char *bounce)
{
    uint64_t start = ring->tail & (ring->size - 1);
    uint64_t until_end = ring->size - start;
    if (size <= until_end)
        return ring->data + start;
    perf_ring_copy(ring, ring->tail, bounce, size);
    return bounce;
}

void perf_ring_skip(struct perf_ring *ring, size_t size)
{
    set_tail(ring, ring->tail + size);
}
