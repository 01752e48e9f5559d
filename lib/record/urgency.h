/*
 * How soon the recorder runs when there is something to read. One that runs late makes old stacks and lost samples. Who
 * may (root) runs before everything of normal priority, for the few percent of a CPU that it needs; others get a better
 * nice value if they may, and a short slice, which lets them preempt early (Linux 6.12). That any of it is refused does
 * no harm.
 */
#ifndef PROF_RECORD_URGENCY_H
#define PROF_RECORD_URGENCY_H

/* Makes the calling thread urgent. Returns its nice value of before, for urgency_end(). */
int urgency_begin(void);

void urgency_end(int nice_before);

#endif
