#include "tree/process_json.h"

static void write_process(struct json_writer *json, const struct process_tree *tree, const struct process *process)
{
    json_open(json, '{');
    json_member_text(json, "pid", process->pid);
    json_member_text(json, "name", process->name);
    json_member_text(json, "argument", process->argument);
    json_member_text(json, "command", process->command);
    json_member_text(json, "exit", process->exit);
    json_member_double(json, "from_ms", process->start);
    json_member_double(json, "to_ms", process->end);
    json_member_double(json, "cpu_ms", process->cpu);
    json_member_double(json, "tree_cpu_ms", process->tree_cpu);
    json_member_double(json, "path_ms", process->on_path);
    json_member_double(json, "depth", process->depth);
    json_member_double(json, "descendants", process->descendants);
    if (process->parent != PROFILE_NONE)
        json_member_double(json, "parent", process->parent);
    json_member_open(json, "threads", '[');
    for (uint32_t i = 0; i < process->thread_count; i++)
        json_double(json, tree->threads[process->first_thread + i]);
    json_close(json, ']');
    json_close(json, '}');
}

int write_process_tree(struct json_writer *json, const struct process_tree *tree, const struct profile *profile,
                       size_t most, struct error *err)
{
    struct text_buffer sentence = {0};
    int code = process_tree_append_sentence(&sentence, tree, profile, err);
    json_key(json, "sentence");
    json_text(json, sentence.data ? sentence.data : "", sentence.length);
    array_free(&sentence);
    json_member_double(json, "idle_ms", tree->idle);
    json_member_double(json, "alone_ms", tree->alone);
    json_member_double(json, "parallel_ms", tree->parallel);
    json_member_open(json, "serial", '{');
    json_member_double(json, "from_ms", tree->serial.from);
    json_member_double(json, "to_ms", tree->serial.to);
    json_member_double(json, "cpu_ms", tree->serial.cpu);
    if (tree->serial.to > tree->serial.from && tree->serial.process != PROFILE_NONE)
        json_member_double(json, "process", tree->serial.process);
    json_close(json, '}');
    json_member_open(json, "processes", '[');
    for (size_t i = 0; i < tree->processes.length && i < most; i++)
        write_process(json, tree, &tree->processes.data[i]);
    json_close(json, ']');
    json_member_open(json, "path", '[');
    for (size_t i = 0; i < tree->path.length && i < most; i++) {
        json_open(json, '{');
        json_member_double(json, "process", tree->path.data[i].process);
        json_member_double(json, "from_ms", tree->path.data[i].from);
        json_member_double(json, "to_ms", tree->path.data[i].to);
        json_close(json, '}');
    }
    json_close(json, ']');
    return code;
}
