#include "language/python_memory.h"

#include "os/target_memory.h"

enum { TOP = 512 }; /* bytes of the stack to compare */

bool python_memory_init(struct python_memory *memory)
{
    *memory = (struct python_memory){.pages = malloc(PYTHON_PAGES * sizeof(struct python_page))};
    return memory->pages != NULL;
}

void python_memory_destroy(struct python_memory *memory)
{
    free(memory->pages);
    memory->pages = NULL;
}

void python_memory_start(struct python_memory *memory, struct target_thread thread, uint64_t sp,
                         const unsigned char *copy, size_t copy_size)
{
    memory->thread = thread;
    memory->sp = sp;
    memory->copy = copy;
    memory->copy_size = copy_size;
    memory->count = memory->last = memory->reads = 0;
}

static struct iovec make_iovec(uint64_t address, size_t size)
{
    return (struct iovec){.iov_base = (void *)(uintptr_t)address, .iov_len = size};
}

size_t python_memory_copy(struct python_memory *memory, uint64_t address, void *out, size_t size)
{
    memory->reads++;
    return target_memory_read(memory->thread, address, out, size);
}

static bool is_unchanged(const struct python_memory *memory, const unsigned char *top, size_t size,
                         const struct python_words *words)
{
    if (!words)
        return !size || memcmp(top, memory->copy, size) == 0;
    for (size_t i = 0; i < words->count; i++) {
        uint64_t offset = words->addresses[i] - memory->sp;
        if (offset < size && size - offset >= sizeof(uint64_t) &&
            memcmp(top + offset, memory->copy + offset, sizeof(uint64_t)) != 0)
            return false;
    }
    return true;
}

bool python_memory_fetch(struct python_memory *memory, const struct python_pages *pages,
                         const struct python_words *words)
{
    struct iovec local[PYTHON_PAGES_KEPT + 1], remote[PYTHON_PAGES_KEPT + 1];
    unsigned char top[2 * TOP] = {0};
    size_t most = words ? 2 * TOP : TOP, top_size = memory->copy_size < most ? memory->copy_size : most;
    local[0] = (struct iovec){.iov_base = top, .iov_len = top_size};
    remote[0] = make_iovec(memory->sp, top_size);
    for (size_t i = 0; i < pages->count; i++) {
        local[i + 1] = (struct iovec){.iov_base = memory->pages[i].bytes, .iov_len = PYTHON_PAGE};
        remote[i + 1] = make_iovec(pages->addresses[i], PYTHON_PAGE);
        memory->pages[i].address = pages->addresses[i];
        memory->pages[i].is_used = false;
    }
    memory->reads++;
    ssize_t got = target_memory_readv(memory->thread, local, pages->count + 1, remote, pages->count + 1);
    if (got < (ssize_t)top_size || !is_unchanged(memory, top, top_size, words))
        return false;
    memory->count = ((size_t)got - top_size) / PYTHON_PAGE;
    return true;
}

void python_memory_store_addresses(const struct python_memory *memory, struct python_pages *pages)
{
    pages->count = 0;
    for (size_t i = 0; i < memory->count && pages->count < PYTHON_PAGES_KEPT; i++)
        if (memory->pages[i].is_used)
            pages->addresses[pages->count++] = memory->pages[i].address;
}

static const struct python_page *find_or_read_page(struct python_memory *memory, uint64_t address)
{
    if (memory->last < memory->count && memory->pages[memory->last].address == address)
        return &memory->pages[memory->last];
    for (size_t i = 0; i < memory->count; i++)
        if (memory->pages[i].address == address) {
            memory->pages[i].is_used = true;
            memory->last = i;
            return &memory->pages[i];
        }
    if (memory->count == PYTHON_PAGES)
        return NULL;
    struct python_page *page = &memory->pages[memory->count];
    page->address = address;
    page->is_used = true;
    if (python_memory_copy(memory, address, page->bytes, PYTHON_PAGE) != PYTHON_PAGE)
        return NULL;
    memory->last = memory->count++;
    return page;
}

bool python_memory_read(struct python_memory *memory, uint64_t address, void *out, size_t size)
{
    uint64_t offset = address - memory->sp;
    if (memory->copy && offset < memory->copy_size && size <= memory->copy_size - offset) {
        memcpy(out, memory->copy + offset, size);
        return true;
    }
    uint64_t start = address & ~(uint64_t)(PYTHON_PAGE - 1);
    size_t in_page = (size_t)(address - start), first = PYTHON_PAGE - in_page < size ? PYTHON_PAGE - in_page : size;
    const struct python_page *page = find_or_read_page(memory, start);
    if (!page || size > PYTHON_PAGE)
        return false;
    memcpy(out, page->bytes + in_page, first);
    if (first == size)
        return true;
    page = find_or_read_page(memory, start + PYTHON_PAGE);
    if (page)
        memcpy((unsigned char *)out + first, page->bytes, size - first);
    return page != NULL;
}

uint64_t python_memory_read_u64(struct python_memory *memory, uint64_t address)
{
    uint64_t value;
    return python_memory_read(memory, address, &value, sizeof(value)) ? value : 0;
}
