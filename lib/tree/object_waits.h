/*
 * The waits for one object, such as a lock or a socket, of an engine's query: where threads wait, who ends the waits,
 * how many threads wait over time, and what the threads that end the waits do meanwhile.
 */
#pragma once

#include "tree/critical_path.h"
#include "tree/own_frame.h"
#include "tree/path_parts.h"
#include "tree/wait_groups.h"

struct json_writer;

enum { OBJECT_WAITS_STEPS = 60, SITE_CALLERS = 2 };

/* A line of the program, and its innermost callers. */
struct call_site {
    struct own_place place;
    uint32_t callers[SITE_CALLERS]; /* funcs, innermost first; PROFILE_NONE: none */
};

/* The waits at one call site, or those that threads of one name end there. */
struct site_waits {
    struct call_site site; /* where threads wait, or where the waker ends the waits */
    double total, count;   /* ms and number of the waits in the range; estimates as in struct wait_group */
    double held;           /* ms: mean time for which the waker held a lock while others waited; NAN: unknown */
    double longest;        /* ms: the longest wait, clipped to the range */
    double from, to;       /* ms: start and end of the longest wait */
    uint32_t thread;       /* thread of the longest wait */
    uint32_t waker;        /* waker of the longest wait, a string; PROFILE_NONE: unknown */
    uint32_t threads;      /* number of threads that wait, or that end the waits */
};

ARRAY_TYPE(struct site_list, struct site_waits);

struct object_waits {
    double total, count, longest, there; /* of all waits, as in struct wait_group */
    uint32_t object;                     /* func */
    uint32_t reason;                     /* of the longest wait */
    bool is_estimated;                   /* short waits stand for others, so `held` is an upper limit */
    struct time_range range;             /* ms: range of `waiting` */
    double waiting[OBJECT_WAITS_STEPS];  /* mean number of threads that wait, in equal steps of the range */
    struct site_list waiters;            /* longest total first */
    struct site_list wakers;             /* longest total first; empty if no wait has a waker */
    struct path_parts
        meanwhile; /* parts of the critical paths during the longest waits; empty if no wait has a waker */
};

/* Fills the zeroed struct for the engine's query. `object`: the func of a wait. Call object_waits_destroy() also after
 * a failure. Time: n log n for n waits, and one walk of critical paths. */
int object_waits_find(struct object_waits *waits, const struct engine *engine, uint32_t object, struct error *err);

/* Fills only the members up to `waiters`, in the same way. */
int object_waits_find_waiters(struct object_waits *waits, const struct engine *engine, uint32_t object,
                              struct error *err);

/* Finds the critical paths during the longest waits for the object. */
int object_waits_find_paths(const struct engine *engine, uint32_t object, struct critical_path *path,
                            struct error *err);

/* Returns the function in which threads wait for more than half of the time, or PROFILE_NONE. */
uint32_t get_main_waiter(const struct object_waits *waits);

/* Writes the struct as one JSON object, for the terminal and the page. */
void object_waits_write(struct json_writer *json, const struct engine *engine, const struct object_waits *waits);

/* Returns the length of the name of a waker without the number of its thread. */
size_t measure_waker_name(const char *waker);

void object_waits_destroy(struct object_waits *waits);
