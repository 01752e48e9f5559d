/*
 * How soon the recorder runs when there is something to read. One that runs late makes old stacks and lost samples. Who
 * may (root) runs before everything of normal priority, for the few percent of a CPU that it needs; others get a better
 * nice value if they may, and a short slice, which lets them preempt early (Linux 6.12). That any of it is refused does
 * no harm.
 */
#ifndef PROF_RECORD_SCHEDULING_H
#define PROF_RECORD_SCHEDULING_H

/* Makes the calling thread urgent. Returns its nice value of before, for scheduling_restore(). */
int scheduling_raise(void);

void scheduling_restore(int nice_before);

#endif
