#include "language/python_frames.h"

#include "os/file_proc.h"

/* A PyThreadState, by the id of its thread. */
struct python_thread {
    uint32_t native_id;   /* the thread's tid in its own pid namespace */
    uint64_t state;       /* address, or 0 if not found */
    uint64_t next_search; /* ns: not before this time */
    uint64_t pause;       /* ns: at least this time between two searches */
    uint32_t failures;    /* samples in a row */
    struct python_pages pages;
    /* The frames of the thread's last sample, outermost first. Later samples reuse the frames that they share. */
    ARRAY(struct python_known) known;
    uint64_t sure_until; /* ns */
};

enum {
    STATES_MAX = 4096, /* limit of PyThreadStates to read for one thread */
    INTERPRETERS_MAX = 256,
    THREADS_KEPT = 4096,
    FRAME_SIZE = 72,    /* bytes to read of a _PyInterpreterFrame */
    SEARCH_SHARE = 100, /* searches take at most 1/SEARCH_SHARE of the time */
    FAILURES_MAX = 8,   /* failed reads after which prof searches the thread state again */
};

static const uint64_t state_ns = 3000, shortest_pause = 100000, longest_pause = 20000000;

struct python_process {
    struct python_library library;
    uint64_t start;
    bool is_known, is_unsupported; /* the layout is known, or unsupported */
    struct python_layout layout;
    struct error problem;
    struct hash by_tid; /* index in threads */
    ARRAY(struct python_thread *) threads;
    struct python_codes codes;
};

/* ---- the reader ---- */

bool python_reader_init(struct python_reader *reader)
{
    reader->frames = malloc(PYTHON_FRAMES_MAX * sizeof(*reader->frames));
    reader->codes = malloc(PYTHON_FRAMES_MAX * sizeof(*reader->codes));
    reader->addresses = malloc(PYTHON_FRAMES_MAX * sizeof(*reader->addresses));
    reader->pcs = malloc(PYTHON_FRAMES_MAX * sizeof(*reader->pcs));
    return python_memory_init(&reader->memory) && reader->frames && reader->codes && reader->addresses && reader->pcs;
}

void python_reader_destroy(struct python_reader *reader)
{
    python_memory_destroy(&reader->memory);
    free(reader->frames);
    free(reader->codes);
    free(reader->addresses);
    free(reader->pcs);
    *reader = (struct python_reader){0};
}

/* ---- the process ---- */

struct python_process *python_process_new(const struct python_library *library, uint64_t start)
{
    struct python_process *process = calloc(1, sizeof(*process));
    if (process) {
        process->library = *library;
        process->start = start;
    }
    return process;
}

struct python_process *python_process_fork(const struct python_process *parent)
{
    return python_process_new(&parent->library, parent->start);
}

static void forget_threads(struct python_process *process)
{
    for (size_t i = 0; i < process->threads.length; i++) {
        array_free(&process->threads.data[i]->known);
        free(process->threads.data[i]);
    }
    process->threads.length = 0;
    hash_clear(&process->by_tid);
}

void python_process_free(struct python_process *process)
{
    if (!process)
        return;
    forget_threads(process);
    python_codes_destroy(&process->codes);
    hash_destroy(&process->by_tid);
    array_free(&process->threads);
    free(process);
}

const char *python_process_get_problem(const struct python_process *process)
{
    return process->is_unsupported ? process->problem.text : NULL;
}

void python_process_forget(struct python_process *process)
{
    python_codes_forget(&process->codes);
}

/* Finds the Python version of the process. Returns false if it is unknown, now or permanently. */
static bool find_layout(struct python_process *process, struct python_memory *memory)
{
    unsigned char runtime[PYTHON_DEBUG_OFFSETS_SIZE] = {0};
    uint64_t version;
    if (process->is_known || process->is_unsupported)
        return process->is_known;
    if (!process->library.version) {
        process->is_unsupported = true;
        error_set(&process->problem, ENOTSUP,
                  "this Python is older than 3.11; prof reads the frames of Python 3.11, 3.12 and 3.13");
        return false;
    }
    if (python_memory_copy(memory, process->start + process->library.version, &version, sizeof(version)) !=
        sizeof(version))
        return false;
    python_memory_copy(memory, process->start + process->library.runtime, runtime, sizeof(runtime));
    process->is_unsupported =
        version > UINT32_MAX || python_layout_find(&process->layout, (uint32_t)version, runtime, &process->problem);
    process->is_known = !process->is_unsupported;
    return process->is_known;
}

/* ---- the thread ---- */

/* Addresses of programs have at most 47 bits on x86-64, and 48 bits on arm64. */
static bool is_pointer(uint64_t address)
{
    return address && address % sizeof(uint64_t) == 0 && address >> 48 == 0;
}

static uint64_t read_word(struct python_memory *memory, uint64_t address)
{
    uint64_t value = 0;
    return python_memory_copy(memory, address, &value, sizeof(value)) == sizeof(value) ? value : 0;
}

/* Whether `state` is a PyThreadState of this thread. */
static bool is_state_of(const struct python_process *process, struct python_memory *memory, uint64_t state,
                        uint32_t tid)
{
    return is_pointer(state) && python_memory_read_u64(memory, state + process->layout.native_thread_id) == tid;
}

/* Searches the interpreters for the PyThreadState of the thread. Returns the address of the PyThreadState, or 0. */
static uint64_t find_state(const struct python_process *process, struct python_memory *memory, uint32_t tid,
                           size_t *states_read)
{
    const struct python_layout *layout = &process->layout;
    uint64_t interpreter = read_word(memory, process->start + process->library.runtime + layout->interpreters);
    for (size_t i = 0; is_pointer(interpreter) && i < INTERPRETERS_MAX; i++) {
        uint64_t state = read_word(memory, interpreter + layout->threads);
        for (; is_pointer(state) && *states_read < STATES_MAX; (*states_read)++) {
            if (read_word(memory, state + layout->native_thread_id) == tid &&
                read_word(memory, state + layout->interpreter) == interpreter)
                return state;
            state = read_word(memory, state + layout->next_thread);
        }
        interpreter = read_word(memory, interpreter + layout->next_interpreter);
    }
    return 0;
}

static struct python_thread *add_thread(struct python_process *process, uint32_t pid, uint32_t tid)
{
    char name[64];
    struct python_thread *thread = calloc(1, sizeof(*thread));
    if (!thread || !array_push(&process->threads, thread)) {
        free(thread);
        return NULL;
    }
    snprintf(name, sizeof(name), "%" PRIu32 "/task/%" PRIu32, pid, tid);
    thread->native_id = proc_find_innermost_pid(tid);
    return thread;
}

static struct python_thread *find_or_add_thread(struct python_process *process, uint32_t pid, uint32_t tid)
{
    uint32_t known = hash_get(&process->by_tid, tid);
    if (known != HASH_MISSING)
        return process->threads.data[known];
    if (process->threads.length >= THREADS_KEPT)
        forget_threads(process);
    struct python_thread *thread = add_thread(process, pid, tid);
    if (thread && !hash_set(&process->by_tid, tid, (uint32_t)process->threads.length - 1)) {
        process->threads.length--;
        free(thread);
        return NULL;
    }
    return thread;
}

/* Python may free a PyThreadState and create it at another address. The old memory then has another thread id, or no
 * valid frames. */
static bool has_state(const struct python_process *process, struct python_memory *memory, struct python_thread *thread,
                      const struct python_sample *sample)
{
    if (thread->state && is_state_of(process, memory, thread->state, thread->native_id))
        return true;
    thread->state = 0;
    if (sample->time < thread->next_search)
        return false;
    size_t states_read = 0;
    thread->failures = 0;
    thread->state = find_state(process, memory, thread->native_id, &states_read);
    uint64_t share = states_read * state_ns * SEARCH_SHARE;
    /* A thread that starts writes its id to its state only after the thread that creates it has waited for it. */
    thread->pause = thread->state || !thread->pause ? shortest_pause : 2 * thread->pause;
    if (thread->pause > longest_pause)
        thread->pause = longest_pause;
    thread->next_search = sample->time + (share > thread->pause ? share : thread->pause);
    return thread->state != 0;
}

/* ---- frames ---- */

static uint64_t read_frame_word(const unsigned char *frame, uint32_t offset)
{
    uint64_t value = 0;
    if (offset <= FRAME_SIZE - sizeof(value))
        memcpy(&value, frame + offset, sizeof(value));
    return value;
}

static unsigned char read_frame_byte(const unsigned char *frame, uint32_t offset)
{
    return offset < FRAME_SIZE ? frame[offset] : 0;
}

static bool add_frame(const struct python_layout *layout, struct python_reader *reader, const unsigned char *frame)
{
    struct python_frame *added = &reader->frames[reader->frame_count];
    if (reader->frame_count == PYTHON_FRAMES_MAX)
        return false;
    added->code = read_frame_word(frame, layout->code);
    if (!is_pointer(added->code))
        return false;
    added->offset = (int64_t)(read_frame_word(frame, layout->instruction) - added->code - layout->bytecode);
    reader->addresses[reader->frame_count++] = added->code;
    return true;
}

static bool add_group(struct python_reader *reader, uint64_t anchor, size_t first)
{
    if (reader->group_count == PYTHON_GROUPS_MAX)
        return false;
    reader->groups[reader->group_count++] = (struct python_group){
        .anchor = anchor, .first = (uint32_t)first, .count = (uint32_t)(reader->frame_count - first)};
    return true;
}

/* 3.11: reads the frames from `frame` to the first frame of one call of the interpreter. Sets `outside` to the caller
 * of the last frame. */
static bool read_entry(const struct python_layout *layout, struct python_reader *reader, uint64_t frame,
                       uint64_t *outside)
{
    unsigned char bytes[FRAME_SIZE];
    bool is_entry = false;
    while (!is_entry) {
        if (!is_pointer(frame) || !python_memory_read(&reader->memory, frame, bytes, sizeof(bytes)) ||
            !add_frame(layout, reader, bytes))
            return false;
        is_entry = read_frame_byte(bytes, layout->is_entry) != 0;
        frame = read_frame_word(bytes, layout->previous);
    }
    *outside = frame;
    return true;
}

/* 3.11. The last _PyCFrame is in the PyThreadState. */
static bool read_cframes(const struct python_layout *layout, struct python_reader *reader, uint64_t state)
{
    enum { STATE_SIZE = 512 };
    uint64_t cframe = python_memory_read_u64(&reader->memory, state + layout->current);
    while (is_pointer(cframe) && cframe - state >= STATE_SIZE) {
        uint64_t current = python_memory_read_u64(&reader->memory, cframe + layout->cframe_current), outside;
        uint64_t previous = python_memory_read_u64(&reader->memory, cframe + layout->cframe_previous);
        if (!is_pointer(previous))
            return false;
        uint64_t expected = python_memory_read_u64(&reader->memory, previous + layout->cframe_current);
        size_t first = reader->frame_count;
        if (current != expected && (!read_entry(layout, reader, current, &outside) || outside != expected))
            return false;
        if (!add_group(reader, cframe, first))
            return false;
        cframe = previous;
    }
    return is_pointer(cframe);
}

static bool read_shims(const struct python_layout *layout, struct python_reader *reader, uint64_t state)
{
    unsigned char bytes[FRAME_SIZE];
    size_t first = 0, steps = 0;
    uint64_t frame = python_memory_read_u64(&reader->memory, state + layout->current);
    if (layout->has_cframes)
        frame = is_pointer(frame) ? python_memory_read_u64(&reader->memory, frame + layout->cframe_current) : 1;
    for (; frame; frame = read_frame_word(bytes, layout->previous)) {
        if (!is_pointer(frame) || ++steps > PYTHON_FRAMES_MAX + PYTHON_GROUPS_MAX ||
            !python_memory_read(&reader->memory, frame, bytes, sizeof(bytes)))
            return false;
        if (read_frame_byte(bytes, layout->owner) != layout->shim_owner) {
            if (!add_frame(layout, reader, bytes))
                return false;
            continue;
        }
        if (!add_group(reader, frame, first))
            return false;
        first = reader->frame_count;
    }
    return first == reader->frame_count;
}

static bool read_frames(const struct python_process *process, struct python_reader *reader, uint64_t state)
{
    reader->frame_count = reader->group_count = 0;
    return process->layout.grouping == PYTHON_CFRAMES ? read_cframes(&process->layout, reader, state)
                                                      : read_shims(&process->layout, reader, state);
}

/* Returns the number of outermost frames that this sample shares with the thread's last sample. */
static size_t count_shared_frames(const struct python_process *process, const struct python_reader *reader,
                                  const struct python_thread *thread, uint64_t time)
{
    size_t shared = 0;
    if (time >= thread->sure_until || time < process->codes.suspect)
        return 0;
    while (shared < reader->frame_count && shared < thread->known.length) {
        size_t i = reader->frame_count - 1 - shared;
        const struct python_known *known = &thread->known.data[shared];
        if (known->frame.code != reader->frames[i].code || known->frame.offset != reader->frames[i].offset)
            break;
        reader->pcs[i] = known->pc;
        shared++;
    }
    return shared;
}

void python_process_store_stack(struct python_process *process, const struct python_reader *reader, uint64_t time)
{
    struct python_thread *thread = reader->thread;
    if (!reader->shared)
        thread->sure_until = UINT64_MAX;
    thread->known.length = reader->shared;
    size_t fresh = reader->frame_count - reader->shared;
    if (time < process->codes.suspect || !array_reserve(&thread->known, fresh)) {
        thread->sure_until = 0;
        return;
    }
    for (size_t i = fresh; i-- > 0;) {
        uint64_t sure_until = python_code_get_valid_until(reader->codes[i]);
        if (!sure_until)
            break; /* this frame and its callees need a new lookup */
        if (sure_until < thread->sure_until)
            thread->sure_until = sure_until;
        array_push(&thread->known, (struct python_known){.frame = reader->frames[i], .pc = reader->pcs[i]});
    }
}

/* Whether the instruction of each frame lies in the frame's code. ob_size of a code object counts code units of 2
 * bytes. */
static bool are_instructions_in_code(const struct python_reader *reader)
{
    for (size_t i = 0; i < reader->frame_count - reader->shared; i++) {
        const struct python_frame *frame = &reader->frames[i];
        uint64_t units = reader->codes[i]->identity.size;
        if (frame->offset < -2 || (frame->offset >= 0 && (uint64_t)frame->offset / 2 >= units))
            return false;
    }
    return true;
}

/* Finds the stack slots of the first native return addresses, which lie just below the callers' stack pointers. */
static struct python_words find_return_addresses(const struct python_sample *sample, uint64_t *words, size_t max)
{
    size_t count = 0;
    for (size_t i = 1; i < sample->frame_count && count < max; i++)
        words[count++] = sample->sps[i] - sizeof(uint64_t);
    return (struct python_words){.addresses = words, .count = count};
}

enum python_outcome python_process_read(struct python_process *process, struct python_reader *reader,
                                        const struct python_sample *sample)
{
    struct python_memory *memory = &reader->memory;
    struct python_thread *thread = find_or_add_thread(process, sample->pid, sample->tid);
    python_memory_start(memory, (struct target_thread){sample->pid, sample->tid}, sample->sp, sample->copy,
                        sample->copy_size);
    if (!thread || !find_layout(process, memory))
        return process->is_unsupported ? PYTHON_UNSUPPORTED : PYTHON_NO_THREAD;
    uint64_t addresses[32];
    struct python_words words = find_return_addresses(sample, addresses, sizeof(addresses) / sizeof(*addresses));
    if (!python_memory_fetch(memory, &thread->pages, sample->is_in_kernel ? &words : NULL))
        return PYTHON_CHANGED;
    if (!has_state(process, memory, thread, sample))
        return PYTHON_NO_THREAD;
    const struct python_source source = {
        .layout = &process->layout, .memory = memory, .code_type = process->start + process->library.code_type};
    python_codes_start(&process->codes, sample->time);
    reader->thread = thread;
    reader->shared = 0;
    bool is_read = read_frames(process, reader, thread->state);
    if (is_read)
        reader->shared = count_shared_frames(process, reader, thread, sample->time);
    is_read = is_read &&
              python_codes_find(&process->codes, &source, reader->addresses, reader->frame_count - reader->shared,
                                reader->codes) &&
              are_instructions_in_code(reader);
    python_memory_store_addresses(memory, &thread->pages);
    thread->failures = is_read && reader->group_count ? 0 : thread->failures + 1;
    if (thread->failures > FAILURES_MAX)
        thread->state = 0;
    return is_read ? PYTHON_READ : PYTHON_UNREADABLE;
}
