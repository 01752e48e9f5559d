#include "unwind/deep_stack.h"

#include "unwind/unwind.h"

size_t deep_stack_omit_middle(uint64_t *pcs, uint64_t *sps, size_t max_pcs, uint64_t *omitted)
{
    enum { LEAST_PCS = 64 };
    size_t middle = max_pcs / 2, dropped = max_pcs / 4, next = middle + 1 + dropped;
    if (max_pcs < LEAST_PCS || *omitted + max_pcs > UNWIND_DEPTH_MAX)
        return 0;
    *omitted += *omitted ? dropped : dropped + 1;
    memmove(pcs + middle + 1, pcs + next, (max_pcs - next) * sizeof(*pcs));
    pcs[middle] = unwind_encode_omitted(*omitted);
    if (sps)
        memmove(sps + middle + 1, sps + next, (max_pcs - next) * sizeof(*sps));
    return dropped;
}
