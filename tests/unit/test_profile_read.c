/* Profile files of all versions become the same profile; damaged and foreign files get one error sentence. */
#include "support/jslb_bytes.h"
#include "support/profile_text.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void read_or_fail(const char *text, struct profile *profile)
{
    struct error err = {""};
    if (read_bytes(text, strlen(text), SIZE_MAX, profile, &err) != 0)
        fail_msg("%s", err.text);
}

static void read_file(const char *name, struct profile *profile)
{
    char *text = text_of_file(name);
    read_or_fail(text, profile);
    free(text);
}

/* The sentence for a text that must not be accepted, the same if the text comes in pieces. */
static const char *refusal(const char *text)
{
    static struct error err;
    struct error in_pieces = {""};
    struct profile profile = {0};
    err.text[0] = '\0';
    int rc = read_bytes(text, strlen(text), SIZE_MAX, &profile, &err);
    if (rc == 0)
        profile_destroy(&profile);
    if (rc && read_bytes(text, strlen(text), 5, &profile, &in_pieces) == rc)
        assert_string_equal(in_pieces.text, err.text);
    return rc ? err.text : "accepted";
}

static void assert_says(const char *sentence, const char *part)
{
    if (!strstr(sentence, part))
        fail_msg("\"%s\" does not say \"%s\"", sentence, part);
}

/* One place of a good file is changed; the sentence must name what is wrong. */
static void assert_refused(const char *from, const char *to, const char *part)
{
    char *text = text_replace(text_of_file("minimal.json"), from, to);
    assert_says(refusal(text), part);
    free(text);
}

static const char *string_at(const struct profile *profile, uint32_t index)
{
    return index == PROFILE_NONE ? "(none)" : strings_text(&profile->strings, index);
}

static void test_every_table_of_the_minimal_file_is_read(void **state)
{
    (void)state;
    struct profile p = {0};
    read_file("minimal.json", &p);
    assert_int_equal(p.meta.version, 70);
    assert_true(p.meta.interval == 1 && p.meta.start_time == 1767225600000.0);
    assert_string_equal(string_at(&p, p.meta.product), "demo");
    assert_int_equal(p.meta.symbolicated, 1);
    assert_true(p.meta.has_cpu_delta);
    assert_int_equal(p.meta.marker_schema, PROFILE_NONE);
    assert_int_equal(p.categories.length, 3);
    assert_int_equal(profile_find_default_category(&p), 0);
    assert_int_equal(p.libs.length, 1);
    assert_string_equal(string_at(&p, p.libs.data[0].path), "/bin/app");
    assert_int_equal(p.libs.data[0].code_id, PROFILE_NONE);
    assert_int_equal(p.stacks.length, 3);
    assert_int_equal(p.stacks.prefix[0], PROFILE_NONE);
    assert_int_equal(p.stacks.prefix[2], 1);
    assert_int_equal(p.frames.address[1], 4368);
    assert_int_equal(p.frames.lib[2], 0);
    assert_int_equal(p.frames.category[2], 2);
    assert_int_equal(p.frames.native_symbol[2], PROFILE_NONE);
    assert_int_equal(p.frames.line[1], 20);
    assert_int_equal(p.frames.line[2], 0);
    assert_string_equal(string_at(&p, p.funcs.name[2]), "leaf");
    assert_int_equal(p.funcs.resource[2], PROFILE_NONE);
    assert_string_equal(string_at(&p, p.resources.data[p.funcs.resource[0]].name), "app");
    assert_int_equal(p.native_symbols.data[0].size, 128);
    assert_string_equal(string_at(&p, p.sources.data[p.funcs.source[1]].filename), "/src/app.c");
    const struct thread *thread = &p.threads.data[0];
    assert_string_equal(string_at(&p, thread->pid), "42");
    assert_string_equal(string_at(&p, thread->tid), "42");
    assert_true(thread->is_main && isnan(thread->end) && thread->start == 0);
    assert_int_equal(thread->samples.length, 4);
    assert_int_equal(thread->samples.stack[2], PROFILE_NONE);
    assert_true(thread->samples.time[3] == 4);
    assert_null(thread->samples.weight);
    assert_true(isnan(thread->samples.cpu_delta[0]) && thread->samples.cpu_delta[3] == 500);
    profile_destroy(&p);
}

static void test_markers_counters_and_extra_are_kept(void **state)
{
    (void)state;
    struct profile p = {0};
    read_file("full.json", &p);
    const struct marker_table *markers = &p.threads.data[0].markers;
    assert_int_equal(markers->length, 2);
    assert_string_equal(string_at(&p, markers->data[0]), "{\"type\":\"Text\",\"name\":1}");
    assert_int_equal(markers->data[1], PROFILE_NONE);
    assert_int_equal(p.meta.kept_strings, 5); /* the payload means string 1 */
    assert_true(markers->end[0] == 2 && isnan(markers->end[1]));
    assert_int_equal(p.counters.length, 1);
    assert_true(p.counters.data[0].time[1] == 2.5 && p.counters.data[0].count[1] == 5);
    assert_string_equal(string_at(&p, p.meta.extra.data[0].entries.data[0].value), "12");
    profile_destroy(&p);
}

/* The string and the stack that the payload of the first thread's marker names. */
static void assert_payload_means(const struct profile *p, const char *string, const char *leaf)
{
    unsigned string_number, stack;
    const struct marker_table *markers = &p->threads.data[0].markers;
    assert_int_equal(sscanf(string_at(p, markers->data[0]),
                            "{\"type\":\"Old\",\"what\":%u,\"count\":1,\"cause\":{\"time\":1,\"stack\":%u}}",
                            &string_number, &stack),
                     2);
    assert_true(string_number < p->meta.kept_strings);
    assert_string_equal(string_at(p, string_number), string);
    assert_true(stack < p->stacks.length);
    assert_string_equal(string_at(p, p->funcs.name[p->frames.func[p->stacks.frame[stack]]]), leaf);
}

/* Also when it is written again: then the numbers are those of the shared tables. */
static void test_payloads_with_numbers_of_own_tables_mean_the_shared_ones(void **state)
{
    (void)state;
    struct profile p = {0}, back = {0};
    char *text = text_of_file("version53.json");
    text =
        text_replace(text, "\"markerSchema\": []",
                     "\"markerSchema\": [{\"data\": [{\"key\": \"what\", \"format\": \"unique-string\"}, {\"label\": "
                     "\"Description\", \"value\": \"x\"}, {\"key\": \"count\", \"format\": \"integer\"}], "
                     "\"name\": \"Old\", \"display\": []}]");
    text = text_replace(text, "\"data\": [],\n    \"name\": [],",
                        "\"data\": [{\"type\": \"Old\", \"what\": 2, \"count\": 1, \"cause\": {\"time\": 1, "
                        "\"stack\": 2}}], \"name\": [1],");
    text = text_replace(
        text, "\"startTime\": [],\n    \"endTime\": [],\n    \"phase\": [],\n    \"category\": [],\n    \"length\": 0",
        "\"startTime\": [1], \"endTime\": [0], \"phase\": [0], \"category\": [0], \"length\": 1");
    read_or_fail(text, &p);
    free(text);
    assert_payload_means(&p, "leaf", "leaf");
    text = text_of_profile(&p, 0);
    read_or_fail(text, &back);
    free(text);
    assert_payload_means(&back, "leaf", "leaf");
    profile_destroy(&p);
    profile_destroy(&back);
}

static void test_tables_of_threads_are_merged(void **state)
{
    (void)state;
    struct profile p = {0};
    read_file("version53.json", &p);
    assert_int_equal(p.threads.length, 2);
    /* The second thread has the same code with its strings in another order, so nothing is there twice. */
    assert_int_equal(p.stacks.length, 3);
    assert_int_equal(p.frames.length, 3);
    assert_int_equal(p.funcs.length, 3);
    assert_int_equal(p.native_symbols.length, 2);
    assert_int_equal(p.sources.length, 1);
    assert_memory_equal(p.threads.data[0].samples.stack, p.threads.data[1].samples.stack, 4 * sizeof(uint32_t));
    assert_int_equal(p.frames.lib[0], 0); /* from the resource */
    assert_int_equal(p.frames.lib[2], PROFILE_NONE);
    assert_string_equal(string_at(&p, p.sources.data[p.funcs.source[0]].filename), "/src/app.c");
    profile_destroy(&p);
}

/* Version 49, unsymbolicated, as samply 0.13.1 saved it of gzip: 51 samples with stacks in the second of two threads.
 */
static void test_a_file_of_samply_is_read(void **state)
{
    (void)state;
    struct profile p = {0};
    read_file("samply-0.13.json", &p);
    assert_int_equal(p.meta.version, 49);
    assert_string_equal(string_at(&p, p.meta.product), "gzip");
    assert_int_equal(p.threads.length, 2);
    const struct sample_table *samples = &p.threads.data[1].samples;
    assert_int_equal(samples->length, 51);
    for (size_t i = 0; i < samples->length; i++)
        assert_true(samples->stack[i] < p.stacks.length);
    assert_true(samples->time[50] > samples->time[0]);
    assert_non_null(samples->cpu_delta);
    uint32_t leaf = p.stacks.frame[samples->stack[25]];
    assert_string_equal(string_at(&p, p.libs.data[p.frames.lib[leaf]].path), "/usr/bin/gzip");
    assert_string_equal(string_at(&p, p.categories.data[p.frames.category[leaf]].name), "User");
    profile_destroy(&p);
}

static void test_prefixes_mean_the_same_as_offsets(void **state)
{
    (void)state;
    struct profile p = {0};
    char *text = text_replace(text_of_file("minimal.json"), "\"prefixOffset\": [0, 1, 1]", "\"prefix\": [null, 0, 1]");
    read_or_fail(text, &p);
    assert_int_equal(p.stacks.prefix[0], PROFILE_NONE);
    assert_int_equal(p.stacks.prefix[2], 1);
    profile_destroy(&p);
    free(text);
}

static void test_key_order_does_not_matter(void **state)
{
    (void)state;
    char *text = text_of_file("full.json");
    char *shared = strstr(text, "\"shared\""), *threads = strstr(text, "\"threads\""),
         *counters = strstr(text, "\"counters\"");
    struct memory swapped = {0};
    memory_write(&swapped, text, (size_t)(shared - text), NULL);
    memory_write(&swapped, threads, (size_t)(counters - threads), NULL);
    memory_write(&swapped, shared, (size_t)(threads - shared), NULL);
    memory_write(&swapped, counters, strlen(counters), NULL);
    struct profile plain = {0}, other = {0};
    read_or_fail(text, &plain);
    read_or_fail(swapped.data, &other);
    char *plain_text = text_of_profile(&plain, 0), *other_text = text_of_profile(&other, 0);
    assert_string_equal(plain_text, other_text);
    free(plain_text);
    free(other_text);
    profile_destroy(&plain);
    profile_destroy(&other);
    array_free(&swapped);
    free(text);
}

static void test_pieces_of_any_size_give_the_same_profile(void **state)
{
    (void)state;
    char *text = text_of_file("full.json");
    struct profile whole = {0};
    read_or_fail(text, &whole);
    char *expected = text_of_profile(&whole, 0);
    for (size_t piece = 1; piece < 70; piece++) {
        struct profile cut = {0};
        struct error err = {""};
        assert_int_equal(read_bytes(text, strlen(text), piece, &cut, &err), 0);
        char *actual = text_of_profile(&cut, 0);
        assert_string_equal(actual, expected);
        free(actual);
        profile_destroy(&cut);
    }
    free(expected);
    profile_destroy(&whole);
    free(text);
}

static void test_every_truncation_says_where(void **state)
{
    (void)state;
    char *text = text_of_file("full.json");
    size_t length = strlen(text);
    while (text[length - 1] != '}')
        length--;
    for (size_t cut = 1; cut < length; cut++) {
        struct profile profile = {0};
        struct error err = {""};
        char expected[64];
        snprintf(expected, sizeof(expected), "the file is truncated after %zu bytes", cut);
        assert_int_not_equal(read_bytes(text, cut, 7, &profile, &err), 0);
        assert_says(err.text, expected);
    }
    free(text);
}

static void test_cpu_deltas_become_microseconds(void **state)
{
    (void)state;
    struct profile p = {0};
    char *text =
        text_replace(text_of_file("minimal.json"), "\"threadCPUDelta\": \"\xc2\xb5s\"", "\"threadCPUDelta\": \"ns\"");
    read_or_fail(text, &p);
    assert_true(p.threads.data[0].samples.cpu_delta[1] == 1);
    profile_destroy(&p);
    /* Cycles: the busiest span of all, 1000 in 1 ms, is taken as all of its time. */
    text = text_replace(text, "\"ns\"", "\"variable CPU cycles\"");
    text = text_replace(text, "[null, 1000, 0, 500]", "[null, 3000, 0, 1500]");
    read_or_fail(text, &p);
    assert_true(p.meta.has_cpu_delta);
    assert_true(p.threads.data[0].samples.cpu_delta[1] == 1000 && p.threads.data[0].samples.cpu_delta[3] == 500);
    profile_destroy(&p);
    text = text_replace(text, "\"variable CPU cycles\"", "\"furlongs\"");
    read_or_fail(text, &p);
    assert_false(p.meta.has_cpu_delta);
    assert_null(p.threads.data[0].samples.cpu_delta);
    profile_destroy(&p);
    free(text);
}

static void test_samples_out_of_order_are_sorted_with_a_warning(void **state)
{
    (void)state;
    struct profile p = {0};
    char *text = text_replace(text_of_file("minimal.json"), "\"timeDeltas\": [1, 1, 1, 1]",
                              "\"time\": [5, 4, 9, 4], \"waker\": [null, \"a\", null, \"b\"], "
                              "\"wakerStack\": [null, 1, null, 0]");
    read_or_fail(text, &p);
    const struct sample_table *samples = &p.threads.data[0].samples;
    assert_true(samples->time[0] == 4 && samples->time[1] == 4 && samples->time[2] == 5 && samples->time[3] == 9);
    assert_int_equal(samples->stack[0], 1); /* was row 1 */
    assert_int_equal(samples->stack[1], 2); /* was row 3 */
    assert_true(samples->cpu_delta[1] == 500);
    assert_string_equal(string_at(&p, samples->waker[0]), "a");
    assert_string_equal(string_at(&p, samples->waker[1]), "b");
    assert_int_equal(samples->waker[2], PROFILE_NONE);
    assert_int_equal(samples->waker_stack[0], 1);
    assert_int_equal(samples->waker_stack[1], 0);
    assert_says(string_at(&p, p.meta.warning), "were out of order");
    profile_destroy(&p);
    free(text);
}

static void test_counters_of_cpu_time_are_in_its_unit(void **state)
{
    (void)state;
    struct profile p = {0};
    char *text =
        text_replace(text_of_file("minimal.json"), "\"threadCPUDelta\": \"\xc2\xb5s\"", "\"threadCPUDelta\": \"ns\"");
    text =
        text_replace(text, "\"threads\": [",
                     "\"counters\": [{\"name\": \"processCPU\", \"category\": \"CPU\", \"description\": \"\", "
                     "\"pid\": \"42\", \"mainThreadIndex\": 0, \"samples\": {\"time\": [1, 2], \"count\": [0, 5000], "
                     "\"length\": 2}}, {\"name\": \"m\", \"category\": \"Memory\", \"description\": \"\", \"pid\": "
                     "\"42\", \"mainThreadIndex\": 0, \"samples\": {\"time\": [1, 2], \"count\": [0, 5000], "
                     "\"length\": 2}}], \"threads\": [");
    read_or_fail(text, &p);
    assert_true(p.counters.data[0].count[1] == 5 && p.counters.data[1].count[1] == 5000);
    profile_destroy(&p);
    free(text);
}

static void test_a_time_of_a_table_without_rows_is_no_sample(void **state)
{
    (void)state;
    struct profile p = {0};
    char *text = text_replace(text_of_file("minimal.json"), "\"timeDeltas\": [1, 1, 1, 1]", "\"timeDeltas\": [null]");
    text = text_replace(text, "\"stack\": [2, 1, null, 2]", "\"stack\": []");
    text = text_replace(text, "\"threadCPUDelta\": [null, 1000, 0, 500]", "\"threadCPUDelta\": []");
    text = text_replace(text, "\"length\": 4", "\"length\": 0");
    read_or_fail(text, &p);
    assert_int_equal(p.threads.data[0].samples.length, 0);
    profile_destroy(&p);
    free(text);
}

static void test_flags_of_newer_versions_say_which_values_are_there(void **state)
{
    (void)state;
    struct profile p = {0};
    char *text = text_replace(text_of_file("minimal.json"), "\"preprocessedProfileVersion\": 70",
                              "\"preprocessedProfileVersion\": 75");
    /* Frames: all there; inlined, without address and line; without category and symbol. */
    text = text_replace(text, "\"inlineDepth\": [0, 0, 0]", "\"flags\": [30, 13, 2]");
    text = text_replace(text, "\"line\": [10, 20, null]", "\"line\": [10, 0, 0]");
    text = text_replace(text, "\"nativeSymbol\": [0, 1, null]", "\"nativeSymbol\": [0, 1, 0]");
    /* Funcs: resource and source; JS with a source; neither. */
    text = text_replace(text, "\"isJS\": [false, false, false]", "\"flags\": [12, 11, 0]");
    text = text_replace(text, "\"relevantForJS\": [false, false, false],", "");
    text = text_replace(text, "\"resource\": [0, 0, -1]", "\"resource\": [0, 0, 0]");
    text = text_replace(text, "\"source\": [0, 0, null]", "\"source\": [0, 0, 0]");
    read_or_fail(text, &p);
    assert_int_equal(p.frames.address[0], 4112);
    assert_int_equal(p.frames.line[0], 10);
    assert_int_equal(p.frames.inline_depth[0], 0);
    assert_int_equal(p.frames.inline_depth[1], 1);
    assert_int_equal(p.frames.address[1], -1);
    assert_int_equal(p.frames.lib[1], PROFILE_NONE);
    assert_int_equal(p.frames.native_symbol[1], 1);
    assert_int_equal(p.frames.category[2], PROFILE_NONE);
    assert_int_equal(p.frames.subcategory[2], PROFILE_NONE);
    assert_int_equal(p.frames.native_symbol[2], PROFILE_NONE);
    assert_int_equal(p.funcs.resource[0], 0);
    assert_int_equal(p.funcs.flags[1], FUNC_IS_JS | FUNC_RELEVANT_FOR_JS);
    assert_int_equal(p.funcs.resource[1], PROFILE_NONE);
    assert_int_equal(p.funcs.source[1], 0);
    assert_int_equal(p.funcs.source[2], PROFILE_NONE);
    assert_int_equal(p.meta.warning, PROFILE_NONE);
    profile_destroy(&p);
    free(text);
}

static void test_versions_beyond_the_known_are_read_with_a_warning(void **state)
{
    (void)state;
    struct profile p = {0};
    char *text = text_replace(text_of_file("minimal.json"), "\"preprocessedProfileVersion\": 70",
                              "\"preprocessedProfileVersion\": 99");
    read_or_fail(text, &p);
    assert_int_equal(p.funcs.length, 3);
    assert_says(string_at(&p, p.meta.warning), "version 99");
    profile_destroy(&p);
    free(text);
}

static void test_what_a_file_leaves_out_is_filled_in(void **state)
{
    (void)state;
    struct profile p = {0};
    read_or_fail("{\"meta\":{\"preprocessedProfileVersion\":60},\"shared\":{\"stringArray\":[\"f\"],\"stackTable\":"
                 "{\"frame\":[0],\"prefix\":[null]},\"frameTable\":{\"func\":[0]},\"funcTable\":{\"name\":[0]}},"
                 "\"threads\":[{\"samples\":{\"stack\":[0,null],\"time\":[1,2]}}]}",
                 &p);
    assert_int_equal(p.categories.length, 8);
    assert_string_equal(string_at(&p, p.categories.data[profile_find_default_category(&p)].name), "Other");
    assert_int_equal(p.frames.category[0], PROFILE_NONE);
    assert_int_equal(p.frames.address[0], -1);
    assert_int_equal(p.funcs.resource[0], PROFILE_NONE);
    assert_true(p.meta.interval == 1);
    assert_int_equal(p.threads.data[0].samples.length, 2);
    assert_int_equal(p.threads.data[0].markers.length, 0);
    assert_string_equal(string_at(&p, p.threads.data[0].process_type), "default");
    profile_destroy(&p);
}

/* ---- JSLB ---- */

static void test_a_jslb_container_holds_the_same_profile(void **state)
{
    (void)state;
    struct memory container = {0};
    make_minimal_container(&container);
    struct profile plain = {0}, unfolded = {0};
    struct error err = {""};
    read_file("minimal.json", &plain);
    char *expected = text_of_profile(&plain, 0);
    for (size_t piece = 1; piece < container.length; piece += 97) {
        if (read_bytes(container.data, container.length, piece, &unfolded, &err) != 0)
            fail_msg("%s", err.text);
        char *actual = text_of_profile(&unfolded, 0);
        assert_string_equal(actual, expected);
        free(actual);
        profile_destroy(&unfolded);
    }
    for (size_t cut = 1; cut < container.length; cut++)
        assert_int_not_equal(read_bytes(container.data, cut, SIZE_MAX, &unfolded, &err), 0);
    assert_says(err.text, "truncated");
    free(expected);
    array_free(&container);
    profile_destroy(&plain);
}

static void assert_container_refused(const struct slab *slabs, uint32_t count, const char *part)
{
    struct memory container = {0};
    struct profile profile = {0};
    struct error err = {""};
    make_container(&container, slabs, count, 0);
    assert_int_not_equal(read_bytes(container.data, container.length, SIZE_MAX, &profile, &err), 0);
    assert_says(err.text, part);
    array_free(&container);
}

static void test_jslb_containers_that_go_in_circles_are_refused(void **state)
{
    (void)state;
    const struct slab circle[] = {{SLAB_JSON, "{\"meta\":{\"$s\":1}}", 18}, {SLAB_JSON, "{\"a\":{\"$s\":0}}", 15}};
    assert_container_refused(circle, 2, "used twice");
    const struct slab missing[] = {{SLAB_JSON, "{\"meta\":{\"$s\":1}}", 18}};
    assert_container_refused(missing, 1, "only 1 slabs");
    const struct slab odd[] = {{SLAB_JSON, "{}", 2}, {SLAB_I32, "abcde", 5}};
    assert_container_refused(odd, 2, "ends within an element");
    const struct slab broken[] = {{SLAB_JSON, "{\"meta\":", 8}};
    assert_container_refused(broken, 1, "damaged at byte 8");
    const struct slab no_root[] = {{SLAB_I32, "abcd", 4}};
    assert_container_refused(no_root, 1, "no root slab");
}

static void test_broken_promises_are_named(void **state)
{
    (void)state;
    assert_refused("\"prefixOffset\": [0, 1, 1]", "\"prefixOffset\": [0, 2, 1]", "prefixOffset[1]");
    assert_refused("\"prefixOffset\": [0, 1, 1]", "\"prefixOffset\": [0, -1, 1]", "prefixOffset[1]");
    assert_refused("\"prefixOffset\": [0, 1, 1]", "\"prefix\": [1, 0, 1]", "stack 0 is stack 1");
    assert_refused("\"prefixOffset\": [0, 1, 1]", "\"prefix\": [0, 0, 1]", "stack 0 is stack 0");
    assert_refused("\"frame\": [0, 1, 2]", "\"frame\": [0, 1, 3]", "stackTable.frame[2] is 3");
    assert_refused("\"frame\": [0, 1, 2]", "\"frame\": [0, 1]", "stackTable.frame has 2 entries");
    assert_refused("\"func\": [0, 1, 2]", "\"func\": [0, null, 2]", "frameTable.func[1] is missing");
    assert_refused("\"category\": [1, 1, 2]", "\"category\": [1, 7, 2]", "frameTable.category[1] is 7");
    assert_refused("\"subcategory\": [0, 0, 0]", "\"subcategory\": [0, 0, 1]", "subcategory[2] is 1");
    assert_refused("\"lib\": [0, 0, 0]", "\"lib\": [0, 0, 1]", "frameTable.lib[2] is 1");
    assert_refused("\"name\": [0, 1, 2]", "\"name\": [0, 1, 5]", "funcTable.name[2] is 5");
    assert_refused("\"stack\": [2, 1, null, 2]", "\"stack\": [2, 1, null, 3]", "threads[0].samples.stack[3] is 3");
    assert_refused("\"stack\": [2, 1, null, 2]", "\"stack\": [2, 1, 0.5, 2]", "threads[0].samples.stack[2], at byte");
    assert_refused("\"stack\": [2, 1, null, 2]", "\"stack\": [2, 1, -2, 2]", "threads[0].samples.stack[2], at byte");
    assert_refused("\"stack\": [2, 1, null, 2]", "\"stack\": [2, 1, [], 2]", "threads[0].samples.stack[2], at byte");
    assert_refused("\"timeDeltas\": [1, 1, 1, 1]", "\"timeDeltas\": [1, 1, null, 1]", "row 2 is null");
    assert_refused("\"timeDeltas\": [1, 1, 1, 1]", "\"timeDeltas\": [1, 1, 1]", "3 times, but 4 rows");
    assert_refused("\"timeDeltas\": [1, 1, 1, 1],", "", "neither time nor timeDeltas");
    assert_refused("\"weight\": null", "\"weight\": [1, 2]", "weight has 2 entries");
    assert_refused("\"length\": 3", "\"length\": 4000000000", "its table has 4000000000 rows");
}

static void test_other_files_are_called_by_their_name(void **state)
{
    (void)state;
    assert_says(refusal(""), "is empty");
    assert_says(refusal("  \n "), "truncated");
    assert_says(refusal("<!DOCTYPE html><html></html>"), "HTML");
    assert_says(refusal("\x1f\x8b\x08 and so on and so on"), "gzip");
    assert_says(refusal("PERFILE2 and so on and so on"), "perf.data");
    assert_says(refusal("Analysis of sampling app (pid 7)"), "macOS's sample");
    assert_says(refusal("[{\"ph\":\"X\"}]"), "Chrome");
    assert_says(refusal("{\"traceEvents\":[{\"ph\":\"X\"}]}"), "Chrome trace");
    assert_says(refusal("{\"dictionary\":{},\"resourceProfiles\":[{}]}"), "OTLP profile as JSON");
    assert_says(refusal("{\"meta\":{\"version\":31},\"libs\":[],\"processes\":[],\"threads\":[]}"), "Gecko profile");
    assert_says(refusal("{\"name\":\"package\"}"), "not a profile: meta is missing");
    char tar[600];
    snprintf(tar, sizeof(tar), "%-257sustar%300s", "app.json", "");
    assert_says(refusal(tar), "tar archive");
    assert_says(refusal("hello, world, this is text"), "is text of an unknown kind, not a profile");
    static const char *const versions[] = {"-1", "70.5", "1e+300", "0"};
    for (size_t i = 0; i < sizeof(versions) / sizeof(*versions); i++) {
        char text[128], said[32];
        snprintf(text, sizeof(text), "{\"meta\":{\"preprocessedProfileVersion\":%s},\"threads\":[]}", versions[i]);
        snprintf(said, sizeof(said), "a profile of version %s", versions[i]);
        assert_says(refusal(text), said);
    }
    assert_says(refusal("{\"meta\":{\"preprocessedProfileVersion\":\"70\"},\"threads\":[]}"), "invalid version");
    assert_says(refusal("{\"meta\":{\"preprocessedProfileVersion\":70},\"threads\":[]}"), "no threads");
    assert_says(refusal("{\"meta\":{\"preprocessedProfileVersion\":70}} x"), "follows the end");
}

static void test_unknown_values_are_skipped_however_deep(void **state)
{
    (void)state;
    struct profile p = {0};
    char *text = text_replace(text_of_file("minimal.json"), "\"libs\"",
                              "\"meta2\": {\"threads\": [[[{\"a\": [1, 2, \"]\", {\"meta\": null}]}]]]}, \"libs\"");
    read_or_fail(text, &p);
    assert_int_equal(p.threads.length, 1);
    profile_destroy(&p);
    free(text);
}

static void test_a_reader_that_failed_says_the_same_again(void **state)
{
    (void)state;
    struct profile_reader *reader = profile_reader_new();
    struct error first = {""}, second = {""}, third = {""};
    struct profile profile = {0};
    assert_int_not_equal(profile_reader_feed(reader, "{\"meta\": nonsense, and more", 27, &first), 0);
    assert_int_not_equal(profile_reader_feed(reader, "{}", 2, &second), 0);
    assert_int_not_equal(profile_reader_finish(reader, &profile, &third), 0);
    assert_string_equal(first.text, second.text);
    assert_string_equal(first.text, third.text);
    assert_says(first.text, "meta, at byte 9");
    profile_reader_free(reader);
}

static void test_a_profile_that_nobody_waits_for_is_not_built(void **state)
{
    (void)state;
    char *text = text_of_file("full.json");
    struct profile_reader *reader = profile_reader_new();
    atomic_bool stop = false;
    struct error err = {""};
    struct profile profile = {0};
    profile_reader_set_stop_flag(reader, &stop);
    assert_int_equal(profile_reader_feed(reader, text, strlen(text), &err), 0);
    stop = true;
    assert_int_equal(profile_reader_finish(reader, &profile, &err), -ECANCELED);
    profile_reader_free(reader);
    free(text);
}

static void test_random_damage_never_gets_past_the_check(void **state)
{
    (void)state;
    char *text = text_of_file("full.json");
    size_t length = strlen(text);
    uint64_t random = 99;
    for (unsigned round = 0; round < 3000; round++) {
        char *copy = strdup(text);
        for (unsigned change = 0; change <= round % 3; change++) {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            copy[random % length] = "0123456789-,.[]{}\"en x"[(random >> 32) % 22];
        }
        struct profile profile = {0};
        struct error err = {""};
        if (read_bytes(copy, length, 100, &profile, &err) == 0) {
            assert_int_equal(profile_check(&profile, &err), 0);
            profile_destroy(&profile);
        } else {
            assert_true(err.text[0]);
        }
        free(copy);
    }
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_table_of_the_minimal_file_is_read),
        cmocka_unit_test(test_markers_counters_and_extra_are_kept),
        cmocka_unit_test(test_payloads_with_numbers_of_own_tables_mean_the_shared_ones),
        cmocka_unit_test(test_tables_of_threads_are_merged),
        cmocka_unit_test(test_a_file_of_samply_is_read),
        cmocka_unit_test(test_prefixes_mean_the_same_as_offsets),
        cmocka_unit_test(test_key_order_does_not_matter),
        cmocka_unit_test(test_pieces_of_any_size_give_the_same_profile),
        cmocka_unit_test(test_every_truncation_says_where),
        cmocka_unit_test(test_cpu_deltas_become_microseconds),
        cmocka_unit_test(test_samples_out_of_order_are_sorted_with_a_warning),
        cmocka_unit_test(test_counters_of_cpu_time_are_in_its_unit),
        cmocka_unit_test(test_a_time_of_a_table_without_rows_is_no_sample),
        cmocka_unit_test(test_flags_of_newer_versions_say_which_values_are_there),
        cmocka_unit_test(test_versions_beyond_the_known_are_read_with_a_warning),
        cmocka_unit_test(test_what_a_file_leaves_out_is_filled_in),
        cmocka_unit_test(test_a_jslb_container_holds_the_same_profile),
        cmocka_unit_test(test_jslb_containers_that_go_in_circles_are_refused),
        cmocka_unit_test(test_broken_promises_are_named),
        cmocka_unit_test(test_other_files_are_called_by_their_name),
        cmocka_unit_test(test_unknown_values_are_skipped_however_deep),
        cmocka_unit_test(test_a_reader_that_failed_says_the_same_again),
        cmocka_unit_test(test_a_profile_that_nobody_waits_for_is_not_built),
        cmocka_unit_test(test_random_damage_never_gets_past_the_check),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
