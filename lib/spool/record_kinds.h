/*
 * All record kinds of the spool file. This table is the only source of the format. Macros generate from it a struct and
 * an append function for each kind (records.h, spool.h), the reader, `prof dump`, and docs/spool-format.md.
 *
 *     EVENT(ID, name, number, since, "meaning", FIELD... )
 *         an event with SPOOL_ID, struct spool_name and spool_write_name(). In the file, the byte `number` precedes the
 *         fields.
 *     SAMPLE(ID, name, number, since, "meaning", FIELD... )
 *         an entry of a chunk (chunk.c), with a `number` from 0 to 7.
 *     FIELD(name, TYPE, "meaning")
 *         a member of the struct, and its key in the dump. TYPE is an enum spool_type without its prefix (records.h has
 *         the type in C).
 *     FIELD_IF(MARK, ...)
 *         a field that the file has only if the preceding field `mark` is SPOOL_MARK_<MARK>.
 *
 * `since` is the first format version with the kind. A reader cannot skip an unknown kind, so a new kind or a new field
 * raises BLOCK_FILE_VERSION. To use the table, define the needed macros, then include this file, which undefines them.
 */
#ifndef EVENT
#define EVENT(...)
#endif
#ifndef SAMPLE
#define SAMPLE(...)
#endif

/* clang-format off */
EVENT(INFO, metadata, 1, 2, "The metadata has this value. If a name has several records, the last one counts.",
    FIELD(name, TEXT, "name of the value, from the list in `lib/spool/info.h`")
    FIELD(value, TEXT, "the value (numbers are decimal)"))
EVENT(PROCESS, process, 2, 2, "A process starts (fork), or a process runs a new program (exec).",
    FIELD(process, PROCESS, "number of the process, assigned by the recorder")
    FIELD(parent, PROCESS, "parent process, or for an exec the process that the exec replaces")
    FIELD(exec, BOOL, "true for an exec (the process starts without mappings), false for a fork (the process starts with a copy of its parent's mappings)")
    FIELD(pid, PID, "process id")
    FIELD(time_ns, TIME, "start")
    FIELD(name, TEXT, "name of the program"))
EVENT(THREAD, thread, 3, 2, "A thread starts, or a thread runs a new program (exec).",
    FIELD(thread, THREAD, "number of the thread, assigned by the recorder")
    FIELD(process, PROCESS, "process of the thread")
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
EVENT(LIB, library, 6, 2, "A file that some process maps with execute permission, or code of the kernel.",
    FIELD(library, LIBRARY, "number of the library, assigned by the recorder")
    FIELD(library_kind, LIBRARY_KIND, "kind of the code")
    FIELD(path, TEXT, "path as the target sees it, such as `/usr/bin/gdb`, `[vdso]`, `[kernel.kallsyms]`, or the name of the function of generated kernel code")
    FIELD(build_id, BYTES, "GNU build id, empty if the file has no build id")
    FIELD(device, COUNT, "device number of the mapped file, 0 if unknown")
    FIELD(inode, COUNT, "inode number of the mapped file, 0 if unknown")
    FIELD(size_bytes, SIZE, "size of the mapped file, 0 if unknown")
    FIELD(mtime_ns, REALTIME, "modification time of the mapped file, 0 if unknown")
    FIELD(image_bytes, IMAGE, "ELF image of the vDSO, empty for other kinds"))
EVENT(MAP, mapping, 7, 2, "A process maps code.",
    FIELD(process, PROCESS, "the process, or null for the kernel, whose mappings all processes share")
    FIELD(time_ns, TIME, "time of the mapping")
    FIELD(start, ADDRESS, "first address")
    FIELD(end, ADDRESS, "first address after the mapping")
    FIELD(rva, ADDRESS, "address of `start` relative to the load address of the library")
    FIELD(library, LIBRARY, "the mapped file, or null for anonymous memory"))
EVENT(LOST, lost, 8, 2, "Samples were lost, because the disk or a ring buffer of the kernel was full.",
    FIELD(time_ns, TIME, "end of the loss")
    FIELD(start_ns, TIME, "start of the loss, 0 if unknown")
    FIELD(cpu, CPU, "CPU of the full ring, or null if the disk was full")
    FIELD(count, COUNT, "number of lost samples"))
EVENT(PAUSED, paused, 9, 2, "The recording pauses.",
    FIELD(time_ns, TIME, "start of the pause"))
EVENT(RESUMED, resumed, 10, 2, "The recording continues after a pause.",
    FIELD(time_ns, TIME, "end of the pause"))
EVENT(MARK, user_mark, 11, 2, "The user marks a moment with `prof ctl mark`.",
    FIELD(time_ns, TIME, "time of the mark")
    FIELD(text, TEXT, "text of the mark"))
EVENT(RUN, run, 12, 2, "The command starts. With `--iterations`, each run has a record.",
    FIELD(time_ns, TIME, "start of the run")
    FIELD(run, COUNT, "number of the run, from 1"))
EVENT(UNSAMPLED_THREAD, unsampled_thread_time, 13, 2, "A thread uses CPU time after its last sample or wait.",
    FIELD(thread, THREAD, "the thread")
    FIELD(time_ns, TIME, "end of the thread or of the recording")
    FIELD(cpu_time_ns, DURATION, "CPU time that no sample covers"))
EVENT(OBJECT, object, 14, 2, "A lock, file, thread or process that a thread waits for, or that wakes a thread.",
    FIELD(object, OBJECT, "number of the object, assigned by the recorder, from 1")
    FIELD(name, TEXT, "name of the object"))
EVENT(MARK_NAME, mark_name, 15, 2, "A program uses a new name for its marks.",
    FIELD(mark_name, MARK_NAME, "number of the name, assigned by the recorder")
    FIELD(name, TEXT, "name of the marks"))
EVENT(PROGRAM_MARK, program_mark, 16, 2, "A program sets a mark with `prof/marks.h`.",
    FIELD(mark, MARK, "kind of the mark")
    FIELD(mark_name, MARK_NAME, "name of the mark")
    FIELD(pid, PID, "process id")
    FIELD(tid, PID, "thread id")
    FIELD(time_ns, TIME, "time of the mark, or start of its interval")
    FIELD_IF(SPAN, end_ns, TIME, "end of the interval")
    FIELD_IF(COUNTER, value, DOUBLE, "value of the counter")
    FIELD(text, TEXT, "text of the mark"))
EVENT(MARKS_LOST, marks_lost, 17, 2, "Marks of a process were lost, because its buffer was full.",
    FIELD(pid, PID, "process id")
    FIELD(start_ns, TIME, "start of the loss")
    FIELD(time_ns, TIME, "end of the loss")
    FIELD(count, COUNT, "number of lost marks"))
EVENT(COMMAND, command_line, 18, 2, "A process has this command line.",
    FIELD(process, PROCESS, "the process")
    FIELD(command, TEXT, "arguments of the process, quoted for a shell, at most 1,000 bytes"))
EVENT(EXIT, process_exit, 19, 2, "A process ends.",
    FIELD(pid, PID, "process id")
    FIELD(time_ns, TIME, "end")
    FIELD(status, COUNT, "status as in wait(2)"))
EVENT(WORK, recorder_work, 20, 2, "The recorder is busy with its own work for more than 1 ms.",
    FIELD(time_ns, TIME, "start of the work")
    FIELD(end_ns, TIME, "end of the work")
    FIELD(name, TEXT, "description of the work"))
EVENT(PYTHON_FUNCTION, python_function, 21, 2, "A Python function occurs in the stacks of samples.",
    FIELD(function, FUNCTION, "number of the function, assigned by the recorder")
    FIELD(name, TEXT, "qualified name of the function")
    FIELD(file, TEXT, "source file")
    FIELD(line, COUNT, "first line of the function, from 1"))
EVENT(SIGNAL, signal, 22, 2, "A signal reaches a thread.",
    FIELD(pid, PID, "process id")
    FIELD(tid, PID, "thread id")
    FIELD(time_ns, TIME, "time of the delivery")
    FIELD(signal, SIGNAL, "number of the signal")
    FIELD(sender, TEXT, "process that sent the signal, empty if unknown"))
EVENT(OOM_KILL, oom_kill, 23, 2, "SIGKILL ends a process while the kernel kills processes for lack of memory.",
    FIELD(pid, PID, "process id")
    FIELD(time_ns, TIME, "end of the process")
    FIELD(count, COUNT, "processes that the kernel has killed for lack of memory since the last such record"))
EVENT(UNSAMPLED_PROCESS, unsampled_process_time, 24, 2,
    "A process outlives the recording, with CPU time beyond its samples and its `unsampled_thread_time`.",
    FIELD(process, PROCESS, "the process")
    FIELD(time_ns, TIME, "end of the recording")
    FIELD(cpu_time_ns, DURATION, "CPU time"))

SAMPLE(SAMPLE, sample, 0, 2, "A thread runs on a CPU, and the recorder samples its CPU time.",
    FIELD(thread, THREAD, "the thread")
    FIELD(time_ns, TIME, "time of the sample")
    FIELD(cpu, CPU, "CPU")
    FIELD(cpu_time_ns, DURATION, "CPU time since the previous sample of the thread")
    FIELD(flags, SAMPLE_FLAGS, "quality of the stack")
    FIELD(kernel_frames, FRAME_COUNT, "number of the innermost frames that are kernel addresses")
    FIELD(frames, FRAMES, "stack, leaf first"))
SAMPLE(WAIT, wait, 1, 2, "A thread ends a wait.",
    FIELD(thread, THREAD, "the thread")
    FIELD(time_ns, TIME, "end of the wait")
    FIELD(cpu, CPU, "CPU on which the thread runs after the wait")
    FIELD(cpu_time_ns, DURATION, "CPU time of the thread between its previous sample and the wait")
    FIELD(wait_ns, DURATION, "length of the wait")
    FIELD(unseen_ns, DURATION, "time of unseen waits for which this wait also stands")
    FIELD(reason, WAIT_REASON, "reason of the wait")
    FIELD(object, OBJECT, "object that the thread waits for, 0 if unknown")
    FIELD(waker, OBJECT, "object that ends the wait, 0 if unknown")
    FIELD(goes_on, BOOL, "true if this wait continues the thread's previous wait")
    FIELD(flags, SAMPLE_FLAGS, "quality of the stack")
    FIELD(kernel_frames, FRAME_COUNT, "number of the innermost frames that are kernel addresses")
    FIELD(frames, FRAMES, "stack, leaf first"))
SAMPLE(EVENT_SAMPLE, event_sample, 2, 2, "A thread causes an event that `prof record -e` samples.",
    FIELD(thread, THREAD, "the thread")
    FIELD(time_ns, TIME, "time of the event")
    FIELD(cpu, CPU, "CPU")
    FIELD(event, EVENT, "the event")
    FIELD(period, COUNT, "number of occurrences of the event that the sample stands for")
    FIELD(flags, SAMPLE_FLAGS, "quality of the stack")
    FIELD(kernel_frames, FRAME_COUNT, "number of the innermost frames that are kernel addresses")
    FIELD(frames, FRAMES, "stack, leaf first"))
SAMPLE(COUNTERS, counters, 3, 2, "The recorder reads counters. A counter is a sum since its start, except memory, swap and threads, which are levels.",
    FIELD(of, COUNTED, "owner of the counters")
    FIELD(time_ns, TIME, "time of the readings")
    FIELD(since_ns, TIME, "time until which no value of the previous record has changed, 0 if unknown")
    FIELD(is_base, BOOL, "true if the change from the previous record does not count")
    FIELD(values, VALUES, "for a process, an object with the names of `lib/spool/counter_kinds.h`. For `power`, a list of µJ in the order of the metadata `power`. For `cpus`, a list of busy ns of each CPU"))
SAMPLE(SLICE, slice, 4, 5, "A thread ran on one CPU, with gaps shorter than a sampling interval.",
    FIELD(thread, THREAD, "the thread")
    FIELD(time_ns, TIME, "end of the slice")
    FIELD(cpu, CPU, "CPU")
    FIELD(length_ns, DURATION, "length of the slice")
    FIELD(off_cpu_ns, DURATION, "time that the thread spent off the CPU during the slice"))
SAMPLE(WAKER_STACK, waker_stack, 5, 6, "A thread ends a wait of another thread. The record of this wait follows.",
    FIELD(thread, THREAD, "the thread that ends the wait")
    FIELD(time_ns, TIME, "time of the wakeup")
    FIELD(cpu, CPU, "CPU")
    FIELD(woken, THREAD, "the thread that waits")
    FIELD(flags, SAMPLE_FLAGS, "quality of the stack")
    FIELD(kernel_frames, FRAME_COUNT, "number of the innermost frames that are kernel addresses")
    FIELD(frames, FRAMES, "stack, leaf first"))
/* clang-format on */

#undef EVENT
#undef SAMPLE
#undef FIELD
#undef FIELD_IF
