#include "record/excess.h"

#include "os/target_memory.h"
#include "process/tracker.h"

void excesses_add(struct excesses *excesses, struct tracker *tracker, enum excess excess,
                  struct tracked_process *process)
{
    struct excess_store *note = &excesses->notes[excess];
    struct tracked_process *owner;
    if (process->excesses >> excess & 1)
        return;
    process->excesses |= (uint8_t)(1u << excess);
    if (note->processes++)
        return;
    const struct tracked_thread *thread = tracker_find_thread(tracker, process->pid, &owner);
    snprintf(note->first, sizeof(note->first), "%s (%" PRIu32 ")", thread ? thread->name : "process", process->pid);
}

void excesses_add_silent_memory(struct excesses *excesses, struct tracker *tracker)
{
    struct tracked_process *process;
    uint32_t pid;
    while (target_memory_take_silent(&pid))
        if ((process = tracker_find_process(tracker, pid)))
            excesses_add(excesses, tracker, EXCESS_MEMORY, process);
}

void excesses_describe(const struct excesses *excesses, char *text, size_t size)
{
    static const char *const reasons[EXCESSES] = {
        [EXCESS_UNWINDING] = "takes too long to unwind: some stacks of the process are truncated",
        [EXCESS_MAPPINGS] =
            "maps executable memory too often: prof reads its mappings only for samples, and misses code that is soon unmapped",
        [EXCESS_MEMORY] =
            "has memory that did not answer a read within 40 ms: prof pauses such reads for 10 s, and some of its stacks are truncated",
    };
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < EXCESSES && used < size; i++) {
        const struct excess_store *note = &excesses->notes[i];
        char others[64] = "";
        if (note->processes > 1)
            snprintf(others, sizeof(others), " (and so do %" PRIu32 " other processes)", note->processes - 1);
        if (note->processes)
            used += (size_t)snprintf(text + used, size - used, "%s%s %s%s", used ? "; " : "", note->first, reasons[i],
                                     others);
    }
}
