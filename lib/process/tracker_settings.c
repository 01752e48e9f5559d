/* The settings of a tracker, made before the first record. */
#include "process/tracker.h"

#include "process/tracker_internal.h"

void tracker_set_jit_files(struct tracker *tracker, struct jit_files *files)
{
    tracker->mappings.jit_files = files;
}

void tracker_select_threads(struct tracker *tracker, const struct thread_filter *filter)
{
    tracker->filter = filter;
}

void tracker_set_observer(struct tracker *tracker, const struct tracker_observer *observer)
{
    tracker->mappings.observer = *observer;
}

void tracker_expect_samples_after_ends(struct tracker *tracker)
{
    tracker->has_samples_after_ends = true;
}

void tracker_read_mappings(struct tracker *tracker)
{
    tracker->mappings.are_read = true;
}

void tracker_expect_old_records(struct tracker *tracker)
{
    tracker->mappings.is_past = true;
}

void tracker_expect_python(struct tracker *tracker)
{
    tracker->mappings.has_python = true;
}

void tracker_expect_switches(struct tracker *tracker, bool expect)
{
    tracker->has_switches = expect;
}
