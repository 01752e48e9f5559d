/* Any bytes as a perf.data file: its header, and all records in order, parsed as the importer does. */
#include "perf_data/perf_data_record.h"

#include "perf_data/perf_data_order.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

struct reading {
    struct perf_data data;
    struct perf_data_order order;
    uint64_t last;
};

static int take(void *context, const unsigned char *bytes, size_t size, uint64_t time)
{
    struct reading *reading = context;
    struct perf_data_record record;
    if (time && time < reading->last)
        abort();
    reading->last = time ? time : reading->last;
    if (perf_data_record_parse(&reading->data, bytes, size, &record))
        return 0;
    const struct perf_sample *sample = &record.record.sample;
    if (record.record.type != PERF_RECORD_SAMPLE)
        return 0;
    if (sample->stack && (sample->stack < bytes || sample->stack + sample->stack_size > bytes + size))
        abort();
    if (sample->callchain_length &&
        (sample->callchain < bytes || sample->callchain + 8 * sample->callchain_length > bytes + size))
        abort();
    for (size_t i = 0; i < record.group_count; i++)
        perf_data_record_get_count(&reading->data, &record, i);
    if (record.group_count &&
        (record.group < bytes || record.group + record.group_count * record.group_stride > bytes + size))
        abort();
    return 0;
}

static int order(void *context, const unsigned char *bytes, size_t size, bool lasts)
{
    struct reading *reading = context;
    uint32_t type;
    memcpy(&type, bytes, sizeof(type));
    if (type == PERF_DATA_FINISHED_ROUND)
        return perf_data_order_end_round(&reading->order);
    if (type >= PERF_DATA_FIRST_OWN)
        return 0;
    return perf_data_order_add(&reading->order, perf_data_record_get_time(&reading->data, bytes, size), bytes, size,
                               lasts, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct reading reading = {.order = {.take = take, .context = &reading, .records_max = 16, .copied_max = 1 << 20}};
    if (!perf_data_open(&reading.data, bytes, size, NULL) &&
        !perf_data_visit_records(&reading.data, order, &reading, NULL))
        perf_data_order_finish(&reading.order);
    perf_data_order_destroy(&reading.order);
    perf_data_destroy(&reading.data);
    return 0;
}
