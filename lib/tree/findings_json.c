#include "tree/findings_json.h"

static void write_index(struct json_writer *json, const char *key, uint32_t index)
{
    if (index != PROFILE_NONE)
        json_member_double(json, key, index);
}

static void write_text(struct json_writer *json, const char *key, const char *text, size_t longest)
{
    json_key(json, key);
    json_text(json, text, strnlen(text, longest));
}

static void write_parts(struct json_writer *json, const struct engine *engine, const struct findings *findings,
                        size_t longest)
{
    static const char *const kinds[] = {
        [PART_CPU] = "cpu", [PART_WAIT] = "wait", [PART_RUNNABLE] = "runnable", [PART_UNSEEN] = "unseen"};
    enum { MOST_PARTS = 12 };
    json_member_double(json, "whole_ms", findings->whole);
    json_member_open(json, "parts", '[');
    for (size_t i = 0; i < findings->parts.length && i < MOST_PARTS; i++) {
        const struct run_part *part = &findings->parts.data[i];
        json_open(json, '{');
        json_member_text(json, "kind", kinds[part->kind]);
        write_text(json, "name", get_run_part_name(engine, part), longest);
        json_member_double(json, "ms", part->ms);
        write_index(json, "index", part->index);
        json_close(json, '}');
    }
    json_close(json, ']');
}

void write_findings(struct json_writer *json, const struct engine *engine, const struct findings *findings, size_t most,
                    size_t longest)
{
    enum { NAMES_OF_SENTENCE = 8 };
    size_t longest_sentence = NAMES_OF_SENTENCE * longest;
    write_text(json, "headline", findings->headline.length ? findings->headline.data : "", longest_sentence);
    write_parts(json, engine, findings, longest);
    json_member_open(json, "findings", '[');
    for (size_t i = 0; i < findings->list.length && i < most; i++) {
        const struct finding *finding = &findings->list.data[i];
        json_open(json, '{');
        json_member_text(json, "kind", finding_kind_names[finding->kind]);
        write_text(json, "sentence", finding->sentence.data, longest_sentence);
        json_member_double(json, "weight", finding->weight);
        write_index(json, "func", finding->func);
        if (finding->line)
            json_member_double(json, "line", finding->line);
        write_index(json, "thread", finding->thread);
        json_close(json, '}');
    }
    json_close(json, ']');
}
