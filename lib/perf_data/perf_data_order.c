/* A binary heap ordered by time; records with equal times are ordered by position in the file. */
#include "perf_data/perf_data_order.h"

enum { RECORDS_MAX = 1 << 20, ALL_RECORDS_MAX = 1 << 24, COPIED_MAX = 64 << 20, ALL_COPIED_MAX = 512 << 20 };

static bool is_before(const struct waiting_record *a, const struct waiting_record *b)
{
    return a->time != b->time ? a->time < b->time : a->sequence < b->sequence;
}

static void move_up(struct perf_data_order *order, size_t i)
{
    struct waiting_record record = order->heap.data[i];
    for (; i && is_before(&record, &order->heap.data[(i - 1) / 2]); i = (i - 1) / 2)
        order->heap.data[i] = order->heap.data[(i - 1) / 2];
    order->heap.data[i] = record;
}

static void move_down(struct perf_data_order *order)
{
    struct waiting_record *heap = order->heap.data, record = heap[0];
    size_t i = 0, length = order->heap.length;
    for (size_t child; (child = 2 * i + 1) < length; i = child) {
        if (child + 1 < length && is_before(&heap[child + 1], &heap[child]))
            child++;
        if (!is_before(&heap[child], &record))
            break;
        heap[i] = heap[child];
    }
    heap[i] = record;
}

static int deliver_oldest(struct perf_data_order *order)
{
    struct waiting_record *heap = order->heap.data, first = heap[0];
    size_t last = --order->heap.length;
    heap[0] = heap[last];
    heap[last] = (struct waiting_record){0}; /* the copy in `first` owns the record */
    move_down(order);
    order->late += first.time < order->last;
    order->last = first.time > order->last ? first.time : order->last;
    int code = order->take(order->context, first.bytes, first.size, order->last);
    if (first.is_copy) {
        order->copied -= first.size;
        free((void *)first.bytes);
    }
    return code;
}

int perf_data_order_add(struct perf_data_order *order, uint64_t time, const unsigned char *bytes, size_t size,
                        bool lasts, struct error *err)
{
    if (!time || time == UINT64_MAX)
        return order->take(order->context, bytes, size, 0);
    struct waiting_record record = {
        .time = time, .sequence = order->sequence++, .bytes = bytes, .size = (uint32_t)size, .is_copy = !lasts};
    if (!lasts) {
        unsigned char *copy = malloc(size);
        if (!copy)
            return error_no_memory(err);
        memcpy(copy, bytes, size);
        record.bytes = copy;
    }
    if (!array_push(&order->heap, record)) {
        if (record.is_copy)
            free((void *)record.bytes);
        return error_no_memory(err);
    }
    order->copied += record.is_copy ? size : 0;
    move_up(order, order->heap.length - 1);
    order->newest = time > order->newest ? time : order->newest;
    int code = 0;
    size_t records_max = order->records_max ? order->records_max : RECORDS_MAX;
    size_t copied_max = order->copied_max ? order->copied_max : COPIED_MAX;
    while (!code && (order->heap.length > records_max || order->copied > copied_max))
        code = deliver_oldest(order);
    return code;
}

void perf_data_order_set_unlimited(struct perf_data_order *order)
{
    order->records_max = ALL_RECORDS_MAX;
    order->copied_max = ALL_COPIED_MAX;
}

int perf_data_order_end_round(struct perf_data_order *order)
{
    int code = 0;
    while (!code && order->heap.length && order->heap.data[0].time <= order->limit)
        code = deliver_oldest(order);
    order->limit = order->newest;
    return code;
}

int perf_data_order_finish(struct perf_data_order *order)
{
    int code = 0;
    while (!code && order->heap.length)
        code = deliver_oldest(order);
    return code;
}

void perf_data_order_destroy(struct perf_data_order *order)
{
    for (size_t i = 0; i < order->heap.length; i++)
        if (order->heap.data[i].is_copy)
            free((void *)order->heap.data[i].bytes);
    array_free(&order->heap);
}
