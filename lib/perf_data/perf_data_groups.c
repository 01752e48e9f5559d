#include "perf_data/perf_data_groups.h"

void perf_data_groups_destroy(struct perf_data_groups *groups)
{
    hash_destroy(&groups->last);
    array_free(&groups->values);
}

bool perf_data_groups_compute_step(struct perf_data_groups *groups, const struct perf_data_record *record,
                                   const struct perf_data_count *count, uint64_t *step)
{
    uint64_t key = hash_mix(count->id, record->attr->is_inherited ? record->record.tid : 0);
    uint32_t index = hash_get(&groups->last, key);
    if (index == HASH_MISSING) {
        index = (uint32_t)groups->values.length;
        if (!array_push(&groups->values, 0) || !hash_set(&groups->last, key, index))
            return false;
    }
    uint64_t before = groups->values.data[index];
    groups->values.data[index] = count->value;
    *step = count->value > before ? count->value - before : 0; /* after a reset, a counter begins at 0 */
    return true;
}
