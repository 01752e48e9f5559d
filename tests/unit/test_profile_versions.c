/* The parts of a file that the profile keeps as JSON text get the form of the version that prof writes. */
#include "support/profile_text.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define VERSION_54 "\"preprocessedProfileVersion\": 54"

/* The minimal file, with `version` in place of its version and `schemas` as its marker schemas. */
static char *file_with_schemas(const char *version, const char *schemas)
{
    struct memory list = {0};
    memory_write(&list, "\"markerSchema\": ", 16, NULL);
    memory_write(&list, schemas, strlen(schemas) + 1, NULL);
    char *text = text_replace(text_of_file("minimal.json"), "\"markerSchema\": []", list.data);
    array_free(&list);
    return text_replace(text, "\"preprocessedProfileVersion\": 70", version);
}

static void read_or_fail(const char *text, struct profile *profile)
{
    struct error err = {""};
    if (read_bytes(text, strlen(text), SIZE_MAX, profile, &err) != 0)
        fail_msg("%s", err.text);
}

static void assert_schemas(const char *version, const char *schemas, const char *expected)
{
    struct profile p = {0};
    char *text = file_with_schemas(version, schemas);
    read_or_fail(text, &p);
    free(text);
    if (expected)
        assert_string_equal(strings_text(&p.strings, p.meta.marker_schema), expected);
    else
        assert_int_equal(p.meta.marker_schema, PROFILE_NONE);
    profile_destroy(&p);
}

static void test_data_of_a_schema_becomes_its_fields(void **state)
{
    (void)state;
    assert_schemas(VERSION_54,
                   "[{\"name\": \"A\", \"display\": [\"marker-table\"], \"data\": [{\"key\": \"k\", \"label\": \"K\", "
                   "\"format\": \"url\", \"searchable\": true}], \"graphs\": [{\"key\": \"k\", \"type\": \"bar\"}]}]",
                   "[{\"name\":\"A\",\"display\":[\"marker-table\"],\"fields\":[{\"key\":\"k\",\"label\":\"K\","
                   "\"format\":\"url\"}],\"graphs\":[{\"key\":\"k\",\"type\":\"bar\"}]}]");
}

static void test_a_fixed_entry_becomes_the_description(void **state)
{
    (void)state;
    assert_schemas(
        VERSION_54,
        "[{\"data\": [{\"label\": \"Marker\", \"value\": \"first\"}, {\"label\": \"Description\", "
        "\"value\": \"named\"}, {\"label\": \"More\", \"value\": \"last\"}], \"name\": \"A\", \"display\": []}, "
        "{\"name\": \"B\", \"display\": [], \"data\": [{\"label\": \"Marker\", \"value\": \"first\"}]}, "
        "{\"name\": \"C\", \"display\": [], \"data\": []}]",
        "[{\"fields\":[],\"name\":\"A\",\"display\":[],\"description\":\"named\"},"
        "{\"name\":\"B\",\"display\":[],\"fields\":[],\"description\":\"first\"},"
        "{\"name\":\"C\",\"display\":[],\"fields\":[]}]");
}

/* Files that prof saved before it upgraded schemas name version 70, and have the old form. */
static void test_the_form_of_a_schema_counts_not_the_version(void **state)
{
    (void)state;
    assert_schemas("\"preprocessedProfileVersion\": 70",
                   "[{\"name\": \"A\", \"display\": [], \"data\": [{\"key\": \"k\", \"format\": \"string\"}]}]",
                   "[{\"name\":\"A\",\"display\":[],\"fields\":[{\"key\":\"k\",\"format\":\"string\"}]}]");
    assert_schemas("\"preprocessedProfileVersion\": 70",
                   "[{\"name\": \"A\", \"display\": [], \"description\": \"own\", \"data\": [{\"key\": \"old\"}], "
                   "\"fields\": [{\"key\": \"k\", \"format\": {\"type\": \"table\", \"columns\": []}}]}]",
                   "[{\"name\":\"A\",\"display\":[],\"description\":\"own\",\"fields\":[{\"key\":\"k\",\"format\":"
                   "{\"type\":\"table\",\"columns\":[]}}]}]");
}

static void test_a_schema_without_lists_gets_them(void **state)
{
    (void)state;
    assert_schemas(VERSION_54,
                   "[1, {\"name\": \"A\", \"display\": null, \"data\": [2, {\"key\": \"k\"}]}, {\"name\": \"B\"}]",
                   "[{\"name\":\"A\",\"display\":[],\"fields\":[{\"key\":\"k\",\"format\":\"string\"}]},"
                   "{\"name\":\"B\",\"fields\":[],\"display\":[]}]");
    assert_schemas(VERSION_54, "{\"name\": \"A\"}", NULL);
    assert_schemas(VERSION_54, "[null]", NULL);
}

static void test_network_markers_keep_their_track(void **state)
{
    (void)state;
    const char *schemas = "[{\"display\":[\"marker-table\"],\"name\":\"Network\",\"fields\":[]}]";
    assert_schemas("\"preprocessedProfileVersion\": 68", schemas,
                   "[{\"display\":[\"marker-table\",\"timeline-network\"],\"name\":\"Network\",\"fields\":[]}]");
    assert_schemas("\"preprocessedProfileVersion\": 69", schemas, schemas);
}

/* What prof writes for a counter of a category with this member in it. */
static char *written_counter(const char *category, const char *member)
{
    struct profile p = {0};
    char counters[512];
    snprintf(counters, sizeof(counters),
             "\"counters\": [{\"name\": \"c\", \"category\": \"%s\", \"description\": \"\", \"pid\": \"1\", %s"
             "\"mainThreadIndex\": 0, \"samples\": {\"time\": [1], \"count\": [2], \"length\": 1}}], \"libs\"",
             category, member);
    char *text = text_replace(text_of_file("minimal.json"), "\"libs\"", counters);
    read_or_fail(text, &p);
    free(text);
    text = text_of_profile(&p, 0);
    profile_destroy(&p);
    return text;
}

static void assert_written_counter(const char *category, const char *member, const char *expected)
{
    char *text = written_counter(category, member);
    if (!strstr(text, expected))
        fail_msg("\"%s\" is not in %s", expected, text);
    free(text);
}

#define POWER_ROWS                                                                                                     \
    "\"tooltipRows\":[{\"type\":\"value\",\"source\":\"count\",\"format\":{\"unit\":\"number\",\"scale\":\"power\"},"  \
    "\"label\":\"Power\"},{\"type\":\"value\",\"source\":\"committed-range-total\",\"format\":{\"unit\":\"number\","   \
    "\"scale\":\"energy\"},\"label\":\"Energy in view\"}]}"
#define POWER_DISPLAY                                                                                                  \
    "\"display\":{\"graphType\":\"line-rate\",\"unit\":\"pWh\",\"color\":\"grey\",\"markerSchemaLocation\":null,"      \
    "\"sortWeight\":30,\"label\":\"c\"," POWER_ROWS

/* Versions 62 and 63: readers take both to be there. */
static void test_a_counter_gets_a_display_with_tooltip_rows(void **state)
{
    (void)state;
    assert_written_counter("power", "", POWER_DISPLAY);
    assert_written_counter("power", "\"display\": null,", POWER_DISPLAY);
    assert_written_counter("power", "\"display\": {\"unit\": \"J\"},", "\"display\":{\"unit\":\"J\"," POWER_ROWS);
    assert_written_counter("other", "\"display\": {},",
                           "\"display\":{\"tooltipRows\":[{\"type\":\"value\",\"source\":\"count\",\"format\":{"
                           "\"unit\":\"number\"},\"label\":\"c\"}]}");
    assert_written_counter("power", "\"display\": {\"tooltipRows\": [{\"type\": \"separator\"}]},",
                           "\"display\":{\"tooltipRows\":[{\"type\":\"separator\"}]}");
}

/* Version 56: the image is a string of the thread, though no schema says so. */
static void test_the_image_of_a_screenshot_stays_the_same_string(void **state)
{
    (void)state;
    struct profile p = {0};
    char *text = text_of_file("version53.json");
    text = text_replace(text, "\"data\": [],\n    \"name\": [],",
                        "\"data\": [{\"type\": \"CompositorScreenshot\", \"url\": 2}], \"name\": [1],");
    text = text_replace(
        text, "\"startTime\": [],\n    \"endTime\": [],\n    \"phase\": [],\n    \"category\": [],\n    \"length\": 0",
        "\"startTime\": [1], \"endTime\": [0], \"phase\": [0], \"category\": [0], \"length\": 1");
    text = text_replace(text, "\"stringArray\": [", "\"stringArray\": [\"main\", \"main\", ");
    read_or_fail(text, &p);
    free(text);
    unsigned url = 0;
    const char *payload = strings_text(&p.strings, p.threads.data[0].markers.data[0]);
    assert_int_equal(sscanf(payload, "{\"type\":\"CompositorScreenshot\",\"url\":%u}", &url), 1);
    assert_string_equal(strings_text(&p.strings, url), "main");
    profile_destroy(&p);
}

#define THREAD_OF_MANY_LIBRARIES                                                                                       \
    "{\"name\":\"t\",\"pid\":1,\"tid\":1,\"samples\":{\"stack\":[],\"time\":[],\"length\":0},\"markers\":{\"data\":[]" \
    ","                                                                                                                \
    "\"name\":[],\"startTime\":[],\"endTime\":[],\"phase\":[],\"category\":[],\"length\":0},\"stackTable\":{"          \
    "\"frame\":[],"                                                                                                    \
    "\"prefix\":[],\"category\":[],\"subcategory\":[],\"length\":0},\"frameTable\":{\"address\":[],\"category\":[],"   \
    "\"subcategory\":[],\"func\":[],\"line\":[],\"column\":[],\"inlineDepth\":[],\"nativeSymbol\":[],\"length\":0},"   \
    "\"funcTable\":{\"name\":[],\"isJS\":[],\"resource\":[],\"fileName\":[],\"lineNumber\":[],\"columnNumber\":[],"    \
    "\"length\":0},\"nativeSymbols\":{\"libIndex\":[],\"address\":[],\"name\":[],\"length\":0},\"stringArray\":["      \
    "\"f\"],"                                                                                                          \
    "\"libs\":["

/* Comparing each with all of the profile takes 45,000,000,000 steps here. */
static void test_many_libraries_of_a_thread_become_those_of_the_profile(void **state)
{
    (void)state;
    enum { COUNT = 300000, EACH = 160 };
    struct profile p = {0};
    char *text = malloc((size_t)COUNT * EACH + 4096);
    size_t used = (size_t)sprintf(text, "{\"meta\":{\"version\":24,\"preprocessedProfileVersion\":40,\"startTime\":0,"
                                        "\"interval\":1,\"categories\":[{\"name\":\"Other\",\"color\":\"grey\","
                                        "\"subcategories\":[\"Other\"]}]},\"threads\":[" THREAD_OF_MANY_LIBRARIES);
    for (int i = 0; i < COUNT; i++)
        used += (size_t)sprintf(text + used,
                                "%s{\"name\":\"l%d\",\"path\":\"/l%d\",\"debugName\":\"l\",\"breakpadId\":\"\"}",
                                i ? "," : "", i, i);
    used += (size_t)sprintf(text + used, "],\"resourceTable\":{\"length\":%d,\"lib\":[", COUNT + 1);
    for (int i = 0; i <= COUNT; i++) /* one twice */
        used += (size_t)sprintf(text + used, "%s%d", i ? "," : "", i % COUNT);
    const char *const columns[] = {"],\"name\":[", "],\"host\":[", "],\"type\":["};
    for (int column = 0; column < 3; column++) {
        used += (size_t)sprintf(text + used, "%s", columns[column]);
        for (int i = 0; i <= COUNT; i++)
            used += (size_t)sprintf(text + used, "%s%s", i ? "," : "", column == 1 ? "null" : "0");
    }
    sprintf(text + used, "]}}]}");
    read_or_fail(text, &p);
    free(text);
    assert_int_equal(p.libs.length, COUNT);
    assert_string_equal(strings_text(&p.strings, p.libs.data[COUNT - 1].path), "/l299999");
    profile_destroy(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_many_libraries_of_a_thread_become_those_of_the_profile),
        cmocka_unit_test(test_data_of_a_schema_becomes_its_fields),
        cmocka_unit_test(test_a_fixed_entry_becomes_the_description),
        cmocka_unit_test(test_the_form_of_a_schema_counts_not_the_version),
        cmocka_unit_test(test_a_schema_without_lists_gets_them),
        cmocka_unit_test(test_network_markers_keep_their_track),
        cmocka_unit_test(test_a_counter_gets_a_display_with_tooltip_rows),
        cmocka_unit_test(test_the_image_of_a_screenshot_stays_the_same_string),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
