/*
 * All record kinds of the spool file. This table is the one source of the format: the enum of kinds, the writer and the
 * reader of events (spool_event.c), `prof dump`, and docs/spool-format.md are made from it.
 *
 *     EVENT(ID, number, since, "name", "meaning", FIELD... )
 *         an event: `number` is the byte in the file, and its fields follow in this order
 *     SAMPLE(ID, since, "name", "meaning", FIELD... )
 *         an entry of a chunk (chunk.c), one of four kinds
 *     FIELD("name", member, TYPE, "meaning")
 *         `member` of struct spool_event; TYPE is an enum spool_type (spool_format.h) without its prefix.
 *         SAMPLE_FIELD: of struct sample. READING_FIELD: of struct counter_reading
 *     FIELD_IF(MARK, ...)
 *         a field that an event has only if its `mark` is SPOOL_MARK_<MARK>
 *
 * `since` is the version of the format that has the kind first. A reader cannot skip a kind that it does not know, so a
 * new kind, like a new field, raises BLOCK_FILE_VERSION. Define the macros that a use needs, then include this file;
 * it undefines them.
 */
#ifndef EVENT
#define EVENT(...)
#endif
#ifndef SAMPLE
#define SAMPLE(...)
#endif

/* clang-format off */
EVENT(INFO, 1, 2, "metadata", "One value of the metadata. The last record of a name counts.",
    FIELD("name", name, TEXT, "name of the value; `lib/spool/info.h` lists them")
    FIELD("value", value, TEXT, "the value; numbers are decimal"))
EVENT(PROCESS, 2, 2, "process", "A process starts by fork, or a process goes on as a new program by exec.",
    FIELD("process", number, PROCESS, "number that the recorder gives to it")
    FIELD("parent", parent, PROCESS, "its parent; of an exec, the process that it replaces")
    FIELD("exec", exec, BOOL, "true: the pid goes on as a new program, without mappings; false: it starts with a copy "
                              "of the mappings of its parent")
    FIELD("pid", pid, PID, "process id")
    FIELD("time_ns", time, TIME, "start")
    FIELD("name", name, TEXT, "name of the program"))
EVENT(THREAD, 3, 2, "thread", "A thread starts, or enters a new program by exec.",
    FIELD("thread", number, THREAD, "number that the recorder gives to it")
    FIELD("process", process, PROCESS, "its process")
    FIELD("tid", tid, PID, "thread id")
    FIELD("time_ns", time, TIME, "start")
    FIELD("name", name, TEXT, "name of the thread"))
EVENT(NAME, 4, 2, "thread_name", "A thread changes its name.",
    FIELD("thread", number, THREAD, "the thread")
    FIELD("time_ns", time, TIME, "time of the change")
    FIELD("name", name, TEXT, "new name"))
EVENT(THREAD_END, 5, 2, "thread_end", "A thread ends.",
    FIELD("thread", number, THREAD, "the thread")
    FIELD("time_ns", time, TIME, "end"))
EVENT(LIB, 6, 2, "library", "A file that a process maps with execute permission, or code of the kernel.",
    FIELD("library", number, LIBRARY, "number that the recorder gives to it")
    FIELD("library_kind", lib.kind, LIBRARY_KIND, "kind of the code")
    FIELD("path", lib.path, TEXT, "path as the target sees it, such as `/usr/bin/gdb`, `[vdso]`, `[kernel.kallsyms]`; "
                                  "of generated kernel code, the name of its function")
    FIELD("build_id", lib.build_id, BYTES, "GNU build id; empty if it has none")
    FIELD("device", lib.device, COUNT, "device number of the mapped file; 0 if unknown")
    FIELD("inode", lib.inode, COUNT, "inode number of the mapped file; 0 if unknown")
    FIELD("size_bytes", lib.size, SIZE, "size of the mapped file; 0 if unknown")
    FIELD("mtime_ns", lib.mtime_ns, REALTIME, "modification time of the mapped file; 0 if unknown")
    FIELD("image_bytes", lib.image, IMAGE, "ELF image of the vDSO; empty for other kinds"))
EVENT(MAP, 7, 2, "mapping", "A process maps code.",
    FIELD("process", number, PROCESS, "the process; none: the kernel, whose mappings are in every process")
    FIELD("time_ns", time, TIME, "time of the mapping")
    FIELD("start", start, ADDRESS, "first address")
    FIELD("end", end, ADDRESS, "address behind the last byte")
    FIELD("rva", rva, ADDRESS, "address of `start` relative to the load address of the library")
    FIELD("library", lib_number, LIBRARY, "the mapped file; none: anonymous memory"))
EVENT(LOST, 8, 2, "lost", "Samples were lost: the ring of the kernel had no room, or the disk was full.",
    FIELD("time_ns", time, TIME, "end of the loss")
    FIELD("start_ns", start, TIME, "begin of the loss; 0 if unknown")
    FIELD("cpu", cpu, CPU, "CPU of the ring; none: the disk was full")
    FIELD("count", count, COUNT, "number of lost samples"))
EVENT(PAUSED, 9, 2, "paused", "The recording pauses.",
    FIELD("time_ns", time, TIME, "begin of the pause"))
EVENT(RESUMED, 10, 2, "resumed", "The recording goes on after a pause.",
    FIELD("time_ns", time, TIME, "end of the pause"))
EVENT(MARK, 11, 2, "user_mark", "The user marks a moment with `prof ctl mark`.",
    FIELD("time_ns", time, TIME, "the moment")
    FIELD("text", value, TEXT, "text of the mark"))
EVENT(RUN, 12, 2, "run", "The command starts, with `--iterations` several times.",
    FIELD("time_ns", time, TIME, "start of the run")
    FIELD("run", count, COUNT, "number of the run, from 1"))
EVENT(UNSAMPLED, 13, 2, "unsampled_thread_time", "CPU time of a thread after its last sample or wait.",
    FIELD("thread", number, THREAD, "the thread")
    FIELD("time_ns", time, TIME, "end of the thread or of the recording")
    FIELD("cpu_time_ns", count, DURATION, "CPU time that no sample has"))
EVENT(OBJECT, 14, 2, "object", "A lock, file, thread or the like that a thread waits for, or that wakes a thread.",
    FIELD("object", number, OBJECT, "number that the recorder gives to it, from 1")
    FIELD("name", name, TEXT, "its name"))
EVENT(MARK_NAME, 15, 2, "mark_name", "Name of the marks of a program.",
    FIELD("mark_name", number, MARK_NAME, "number that the recorder gives to the name")
    FIELD("name", name, TEXT, "the name"))
EVENT(PROGRAM_MARK, 16, 2, "program_mark", "A program sets a mark with `prof/marks.h`.",
    FIELD("mark", mark, MARK, "kind of the mark")
    FIELD("mark_name", number, MARK_NAME, "name of the mark")
    FIELD("pid", pid, PID, "process id")
    FIELD("tid", tid, PID, "thread id")
    FIELD("time_ns", time, TIME, "the moment, or begin of the interval")
    FIELD_IF(SPAN, "end_ns", end, TIME, "end of the interval")
    FIELD_IF(COUNTER, "value", end, DOUBLE, "value of the counter")
    FIELD("text", value, TEXT, "text of the mark"))
EVENT(MARKS_LOST, 17, 2, "marks_lost", "Marks of a process were lost.",
    FIELD("pid", pid, PID, "process id")
    FIELD("start_ns", start, TIME, "begin of the loss")
    FIELD("time_ns", time, TIME, "end of the loss")
    FIELD("count", count, COUNT, "number of lost marks"))
EVENT(COMMAND, 18, 2, "command_line", "Command line of a process.",
    FIELD("process", number, PROCESS, "the process")
    FIELD("command", value, TEXT, "its words, with quotes for a shell; at most 1,000 bytes"))
EVENT(EXIT, 19, 2, "process_exit", "A process ends.",
    FIELD("pid", pid, PID, "process id")
    FIELD("time_ns", time, TIME, "end")
    FIELD("status", count, COUNT, "status as in wait(2)"))
EVENT(WORK, 20, 2, "recorder_work", "The recorder itself works on something that takes time.",
    FIELD("time_ns", time, TIME, "begin")
    FIELD("end_ns", end, TIME, "end")
    FIELD("name", name, TEXT, "the work"))
EVENT(PYTHON_FUNCTION, 21, 2, "python_function", "A Python function that frames of samples name.",
    FIELD("function", number, FUNCTION, "number that the recorder gives to it")
    FIELD("name", name, TEXT, "qualified name")
    FIELD("file", value, TEXT, "source file")
    FIELD("line", count, COUNT, "first line of the function, from 1"))
EVENT(SIGNAL, 22, 2, "signal", "A signal reaches a thread.",
    FIELD("pid", pid, PID, "process id")
    FIELD("tid", tid, PID, "thread id")
    FIELD("time_ns", time, TIME, "time of the delivery")
    FIELD("signal", number, COUNT, "number of the signal")
    FIELD("sender", name, TEXT, "the sender; empty if unknown"))
EVENT(OOM_KILL, 23, 2, "oom_kill", "SIGKILL ends a process while the kernel kills processes for lack of memory.",
    FIELD("pid", pid, PID, "process id")
    FIELD("time_ns", time, TIME, "end of the process")
    FIELD("count", count, COUNT, "processes that the kernel killed for lack of memory since its counter was last read"))
EVENT(UNSEEN, 24, 2, "unsampled_process_time",
    "CPU time that the kernel counts for a process that lives when the recording ends, and that neither samples nor "
    "`unsampled_thread_time` have.",
    FIELD("process", number, PROCESS, "the process")
    FIELD("time_ns", time, TIME, "end of the recording")
    FIELD("cpu_time_ns", count, DURATION, "CPU time"))

SAMPLE(CPU, 2, "sample", "A thread runs: one sample of CPU time.",
    SAMPLE_FIELD("thread", thread, THREAD, "the thread")
    SAMPLE_FIELD("time_ns", time, TIME, "time of the sample")
    SAMPLE_FIELD("cpu", cpu, CPU, "CPU")
    SAMPLE_FIELD("cpu_time_ns", cpu_time, DURATION, "CPU time since the previous sample of the thread")
    SAMPLE_FIELD("flags", flags, SAMPLE_FLAGS, "quality of the stack")
    SAMPLE_FIELD("kernel_frames", kernel_frame_count, COUNT, "number of frames, from the leaf on, that are kernel addresses")
    SAMPLE_FIELD("frames", frames, FRAMES, "stack, leaf first"))
SAMPLE(WAIT, 2, "wait", "A wait of a thread ends.",
    SAMPLE_FIELD("thread", thread, THREAD, "the thread")
    SAMPLE_FIELD("time_ns", time, TIME, "end of the wait")
    SAMPLE_FIELD("cpu", cpu, CPU, "CPU on which the thread runs after the wait")
    SAMPLE_FIELD("cpu_time_ns", cpu_time, DURATION, "CPU time from the previous sample to the begin of the wait")
    SAMPLE_FIELD("wait_ns", wait, DURATION, "length of the wait")
    SAMPLE_FIELD("reason", reason, WAIT_REASON, "reason of the wait")
    SAMPLE_FIELD("object", object, OBJECT, "what the thread waits for; 0 if unknown")
    SAMPLE_FIELD("waker", waker, OBJECT, "what ends the wait; 0 if unknown")
    SAMPLE_FIELD("flags", flags, SAMPLE_FLAGS, "quality of the stack")
    SAMPLE_FIELD("kernel_frames", kernel_frame_count, COUNT, "number of frames, from the leaf on, that are kernel addresses")
    SAMPLE_FIELD("frames", frames, FRAMES, "stack, leaf first"))
SAMPLE(EVENT, 2, "event_sample", "A thread causes an event of `prof record -e`.",
    SAMPLE_FIELD("thread", thread, THREAD, "the thread")
    SAMPLE_FIELD("time_ns", time, TIME, "time of the event")
    SAMPLE_FIELD("cpu", cpu, CPU, "CPU")
    SAMPLE_FIELD("event", event, COUNT, "number of the event, from 1; metadata `event_name_1` has its name")
    SAMPLE_FIELD("period", period, COUNT, "number of events that the sample stands for")
    SAMPLE_FIELD("flags", flags, SAMPLE_FLAGS, "quality of the stack")
    SAMPLE_FIELD("kernel_frames", kernel_frame_count, COUNT, "number of frames, from the leaf on, that are kernel addresses")
    SAMPLE_FIELD("frames", frames, FRAMES, "stack, leaf first"))
SAMPLE(COUNTERS, 2, "counters", "Values of counters at one moment. Counters are sums since their start, except memory, swap and threads.",
    READING_FIELD("of", whose, COUNTED, "what the counters belong to")
    READING_FIELD("time_ns", time, TIME, "the moment")
    READING_FIELD("since_ns", since, TIME, "no value has changed from the previous record up to this time; 0: the values "
                                   "changed at an unknown time in between")
    READING_FIELD("is_base", is_base, BOOL, "true: the difference to the previous record does not count")
    READING_FIELD("values", values, VALUES, "by name for a process (`lib/spool/counter_reading.h`), else a list: of power in µJ "
                                    "by the order of metadata `power`, of CPUs the busy ns of each"))
/* clang-format on */

#undef EVENT
#undef SAMPLE
