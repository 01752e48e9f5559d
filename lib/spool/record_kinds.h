/*
 * All record kinds of the spool file. This table is the one source of the format: a struct for each kind and the
 * function that appends it (records.h, spool.h), the reader, `prof dump`, and docs/spool-format.md are made from it.
 *
 *     EVENT(ID, name, number, since, "meaning", FIELD... )
 *         an event: SPOOL_ID, struct spool_name, spool_write_name(); `number` is the byte in the file, and its fields
 *         follow in this order
 *     SAMPLE(ID, name, number, since, "meaning", FIELD... )
 *         an entry of a chunk (chunk.c)
 *     FIELD(name, TYPE, "meaning")
 *         a member of the struct, and its key in the dump; TYPE is an enum spool_type without its prefix (records.h has
 *         the type in C)
 *     FIELD_IF(MARK, ...)
 *         a field that the file has only if the field `mark` before it is SPOOL_MARK_<MARK>
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
EVENT(INFO, metadata, 1, 2, "One value of the metadata. The last record of a name counts.",
    FIELD(name, TEXT, "name of the value; `lib/spool/info.h` lists them")
    FIELD(value, TEXT, "the value; numbers are decimal"))
EVENT(PROCESS, process, 2, 2, "A process starts by fork, or a process goes on as a new program by exec.",
    FIELD(process, PROCESS, "number that the recorder gives to it")
    FIELD(parent, PROCESS, "its parent; of an exec, the process that it replaces")
    FIELD(exec, BOOL, "true: the pid goes on as a new program, without mappings; false: it starts with a copy "
                              "of the mappings of its parent")
    FIELD(pid, PID, "process id")
    FIELD(time_ns, TIME, "start")
    FIELD(name, TEXT, "name of the program"))
EVENT(THREAD, thread, 3, 2, "A thread starts, or enters a new program by exec.",
    FIELD(thread, THREAD, "number that the recorder gives to it")
    FIELD(process, PROCESS, "its process")
    FIELD(tid, PID, "thread id")
    FIELD(time_ns, TIME, "start")
    FIELD(name, TEXT, "name of the thread"))
EVENT(NAME, thread_name, 4, 2, "A thread changes its name.",
    FIELD(thread, THREAD, "the thread")
    FIELD(time_ns, TIME, "time of the change")
    FIELD(name, TEXT, "new name"))
EVENT(THREAD_END, thread_end, 5, 2, "A thread ends.",
    FIELD(thread, THREAD, "the thread")
    FIELD(time_ns, TIME, "end"))
EVENT(LIB, library, 6, 2, "A file that a process maps with execute permission, or code of the kernel.",
    FIELD(library, LIBRARY, "number that the recorder gives to it")
    FIELD(library_kind, LIBRARY_KIND, "kind of the code")
    FIELD(path, TEXT, "path as the target sees it, such as `/usr/bin/gdb`, `[vdso]`, `[kernel.kallsyms]`; "
                                  "of generated kernel code, the name of its function")
    FIELD(build_id, BYTES, "GNU build id; empty if it has none")
    FIELD(device, COUNT, "device number of the mapped file; 0 if unknown")
    FIELD(inode, COUNT, "inode number of the mapped file; 0 if unknown")
    FIELD(size_bytes, SIZE, "size of the mapped file; 0 if unknown")
    FIELD(mtime_ns, REALTIME, "modification time of the mapped file; 0 if unknown")
    FIELD(image_bytes, IMAGE, "ELF image of the vDSO; empty for other kinds"))
EVENT(MAP, mapping, 7, 2, "A process maps code.",
    FIELD(process, PROCESS, "the process; none: the kernel, whose mappings are in every process")
    FIELD(time_ns, TIME, "time of the mapping")
    FIELD(start, ADDRESS, "first address")
    FIELD(end, ADDRESS, "address behind the last byte")
    FIELD(rva, ADDRESS, "address of `start` relative to the load address of the library")
    FIELD(library, LIBRARY, "the mapped file; none: anonymous memory"))
EVENT(LOST, lost, 8, 2, "Samples were lost: the ring of the kernel had no room, or the disk was full.",
    FIELD(time_ns, TIME, "end of the loss")
    FIELD(start_ns, TIME, "begin of the loss; 0 if unknown")
    FIELD(cpu, CPU, "CPU of the ring; none: the disk was full")
    FIELD(count, COUNT, "number of lost samples"))
EVENT(PAUSED, paused, 9, 2, "The recording pauses.",
    FIELD(time_ns, TIME, "begin of the pause"))
EVENT(RESUMED, resumed, 10, 2, "The recording goes on after a pause.",
    FIELD(time_ns, TIME, "end of the pause"))
EVENT(MARK, user_mark, 11, 2, "The user marks a moment with `prof ctl mark`.",
    FIELD(time_ns, TIME, "the moment")
    FIELD(text, TEXT, "text of the mark"))
EVENT(RUN, run, 12, 2, "The command starts, with `--iterations` several times.",
    FIELD(time_ns, TIME, "start of the run")
    FIELD(run, COUNT, "number of the run, from 1"))
EVENT(UNSAMPLED, unsampled_thread_time, 13, 2, "CPU time of a thread after its last sample or wait.",
    FIELD(thread, THREAD, "the thread")
    FIELD(time_ns, TIME, "end of the thread or of the recording")
    FIELD(cpu_time_ns, DURATION, "CPU time that no sample has"))
EVENT(OBJECT, object, 14, 2, "A lock, file, thread or the like that a thread waits for, or that wakes a thread.",
    FIELD(object, OBJECT, "number that the recorder gives to it, from 1")
    FIELD(name, TEXT, "its name"))
EVENT(MARK_NAME, mark_name, 15, 2, "Name of the marks of a program.",
    FIELD(mark_name, MARK_NAME, "number that the recorder gives to the name")
    FIELD(name, TEXT, "the name"))
EVENT(PROGRAM_MARK, program_mark, 16, 2, "A program sets a mark with `prof/marks.h`.",
    FIELD(mark, MARK, "kind of the mark")
    FIELD(mark_name, MARK_NAME, "name of the mark")
    FIELD(pid, PID, "process id")
    FIELD(tid, PID, "thread id")
    FIELD(time_ns, TIME, "the moment, or begin of the interval")
    FIELD_IF(SPAN, end_ns, TIME, "end of the interval")
    FIELD_IF(COUNTER, value, DOUBLE, "value of the counter")
    FIELD(text, TEXT, "text of the mark"))
EVENT(MARKS_LOST, marks_lost, 17, 2, "Marks of a process were lost.",
    FIELD(pid, PID, "process id")
    FIELD(start_ns, TIME, "begin of the loss")
    FIELD(time_ns, TIME, "end of the loss")
    FIELD(count, COUNT, "number of lost marks"))
EVENT(COMMAND, command_line, 18, 2, "Command line of a process.",
    FIELD(process, PROCESS, "the process")
    FIELD(command, TEXT, "its words, with quotes for a shell; at most 1,000 bytes"))
EVENT(EXIT, process_exit, 19, 2, "A process ends.",
    FIELD(pid, PID, "process id")
    FIELD(time_ns, TIME, "end")
    FIELD(status, COUNT, "status as in wait(2)"))
EVENT(WORK, recorder_work, 20, 2, "The recorder itself works on something that takes time.",
    FIELD(time_ns, TIME, "begin")
    FIELD(end_ns, TIME, "end")
    FIELD(name, TEXT, "the work"))
EVENT(PYTHON_FUNCTION, python_function, 21, 2, "A Python function that frames of samples name.",
    FIELD(function, FUNCTION, "number that the recorder gives to it")
    FIELD(name, TEXT, "qualified name")
    FIELD(file, TEXT, "source file")
    FIELD(line, COUNT, "first line of the function, from 1"))
EVENT(SIGNAL, signal, 22, 2, "A signal reaches a thread.",
    FIELD(pid, PID, "process id")
    FIELD(tid, PID, "thread id")
    FIELD(time_ns, TIME, "time of the delivery")
    FIELD(signal, SIGNAL, "number of the signal")
    FIELD(sender, TEXT, "the sender; empty if unknown"))
EVENT(OOM_KILL, oom_kill, 23, 2, "SIGKILL ends a process while the kernel kills processes for lack of memory.",
    FIELD(pid, PID, "process id")
    FIELD(time_ns, TIME, "end of the process")
    FIELD(count, COUNT, "processes that the kernel killed for lack of memory since its counter was last read"))
EVENT(UNSEEN, unsampled_process_time, 24, 2,
    "CPU time that the kernel counts for a process that lives when the recording ends, and that neither samples nor "
    "`unsampled_thread_time` have.",
    FIELD(process, PROCESS, "the process")
    FIELD(time_ns, TIME, "end of the recording")
    FIELD(cpu_time_ns, DURATION, "CPU time"))

SAMPLE(SAMPLE, sample, 0, 2, "A thread runs: one sample of CPU time.",
    FIELD(thread, THREAD, "the thread")
    FIELD(time_ns, TIME, "time of the sample")
    FIELD(cpu, CPU, "CPU")
    FIELD(cpu_time_ns, DURATION, "CPU time since the previous sample of the thread")
    FIELD(flags, SAMPLE_FLAGS, "quality of the stack")
    FIELD(kernel_frames, FRAME_COUNT, "number of frames, from the leaf on, that are kernel addresses")
    FIELD(frames, FRAMES, "stack, leaf first"))
SAMPLE(WAIT, wait, 1, 2, "A wait of a thread ends.",
    FIELD(thread, THREAD, "the thread")
    FIELD(time_ns, TIME, "end of the wait")
    FIELD(cpu, CPU, "CPU on which the thread runs after the wait")
    FIELD(cpu_time_ns, DURATION, "CPU time from the previous sample to the begin of the wait")
    FIELD(wait_ns, DURATION, "length of the wait")
    FIELD(reason, WAIT_REASON, "reason of the wait")
    FIELD(object, OBJECT, "what the thread waits for; 0 if unknown")
    FIELD(waker, OBJECT, "what ends the wait; 0 if unknown")
    FIELD(goes_on, BOOL, "true: the next part of the thread's previous wait")
    FIELD(flags, SAMPLE_FLAGS, "quality of the stack")
    FIELD(kernel_frames, FRAME_COUNT, "number of frames, from the leaf on, that are kernel addresses")
    FIELD(frames, FRAMES, "stack, leaf first"))
SAMPLE(EVENT_SAMPLE, event_sample, 2, 2, "A thread causes an event of `prof record -e`.",
    FIELD(thread, THREAD, "the thread")
    FIELD(time_ns, TIME, "time of the event")
    FIELD(cpu, CPU, "CPU")
    FIELD(event, EVENT, "the event")
    FIELD(period, COUNT, "number of events that the sample stands for")
    FIELD(flags, SAMPLE_FLAGS, "quality of the stack")
    FIELD(kernel_frames, FRAME_COUNT, "number of frames, from the leaf on, that are kernel addresses")
    FIELD(frames, FRAMES, "stack, leaf first"))
SAMPLE(COUNTERS, counters, 3, 2, "Values of counters at one moment. Counters are sums since their start, except memory, swap and threads.",
    FIELD(of, COUNTED, "what the counters belong to")
    FIELD(time_ns, TIME, "the moment")
    FIELD(since_ns, TIME, "no value has changed from the previous record up to this time; 0: the values "
                                   "changed at an unknown time in between")
    FIELD(is_base, BOOL, "true: the difference to the previous record does not count")
    FIELD(values, VALUES, "by name for a process (`lib/spool/counter_kinds.h`), else a list: of power in µJ "
                                    "by the order of metadata `power`, of CPUs the busy ns of each"))
/* clang-format on */

#undef EVENT
#undef SAMPLE
#undef FIELD
#undef FIELD_IF
