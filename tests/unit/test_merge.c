/*
 * Merged profiles: each sample of each thread equals the one in its own file. Two profiles have the same libraries,
 * symbols, categories and events in different order, and some that the other lacks. The reference is a text of all
 * samples of a thread, made before and after the merge.
 */
#include "profile/intern.h"
#include "profile/merge.h"
#include "support/sample_rows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { KINDS = 4, TEXT = 100000 }; /* KINDS: libraries, symbols, categories, functions, frames, stacks */

static uint32_t text(struct profile *profile, const char *kind, unsigned i)
{
    char name[32];
    snprintf(name, sizeof(name), "%s %u", kind, i);
    return strings_add_z(&profile->strings, name);
}

static void add_samples(struct sample_table *samples, uint32_t first_stack)
{
    for (uint32_t i = 0; i < 2 * KINDS; i++)
        assert_true(samples_add(samples, i == 1 ? PROFILE_NONE : (first_stack + i) % KINDS, i));
}

/* Of each kind those with the numbers from `first` on; the order is another one for each `first`. */
static void make_profile(struct profile *profile, unsigned first, unsigned events)
{
    profile_init(profile);
    text(profile, "padding", first); /* the numbers of strings differ as well */
    for (unsigned i = 0; i < KINDS; i++) {
        unsigned n = first + (i + first) % KINDS;
        struct library lib = {text(profile, "arch", 1),  text(profile, "lib", n),    text(profile, "/lib", n),
                              text(profile, "debug", n), text(profile, "/debug", n), text(profile, "breakpad", n),
                              text(profile, "code", n)};
        struct source source = {text(profile, "source", n), PROFILE_NONE, 1, 1, PROFILE_NONE, PROFILE_NONE};
        struct resource resource = {lib.name, PROFILE_NONE, 1};
        struct native_symbol symbol = {i, 16 * n, text(profile, "symbol", n), 16};
        char category[32], subcategory[32];
        snprintf(category, sizeof(category), "category %u", n);
        snprintf(subcategory, sizeof(subcategory), "part %u", n);
        assert_true(array_push(&profile->libs, lib));
        assert_true(array_push(&profile->sources, source));
        assert_true(array_push(&profile->resources, resource));
        assert_true(array_push(&profile->native_symbols, symbol));
        uint32_t added = profile_add_category(profile, category, "grey");
        struct interner interner = {.profile = profile};
        assert_int_equal(intern_subcategory(&interner, added, subcategory), 1);
        interner_destroy(&interner);
        uint32_t func = profile_add_func(profile, text(profile, "func", n), i);
        profile->funcs.source[func] = i;
        profile->funcs.line[func] = 10 + n;
        uint32_t frame = profile_add_frame(profile, func, i, 1000 * (int64_t)n);
        profile->frames.category[frame] = added;
        profile->frames.subcategory[frame] = (uint16_t)(i % 2);
        profile->frames.native_symbol[frame] = i;
        profile->frames.line[frame] = 20 + n;
        profile_add_stack(profile, i ? i - 1 : PROFILE_NONE, frame);
    }
    for (unsigned i = 0; i < events; i++) {
        struct profile_event event = {text(profile, "event", first + (i + first) % events), 1 + i};
        assert_true(array_push(&profile->meta.events, event));
    }
    for (unsigned i = 0; i < 2; i++) {
        struct thread *thread = profile_add_thread(profile);
        thread->name = thread->process_name = thread->process_type = text(profile, "thread", first + i);
        thread->pid = thread->tid = text(profile, "pid", first + i);
        add_samples(&thread->samples, i);
        for (unsigned k = 0; events && k < TABLE_EVENTS - 1 + events; k++) {
            struct sample_table *table = array_push_zero(&thread->more);
            assert_non_null(table);
            add_samples(table, k);
        }
    }
}

static char *describe_stack(char *out, const struct profile *profile, uint32_t stack)
{
    for (; stack != PROFILE_NONE; stack = profile->stacks.prefix[stack]) {
        uint32_t frame = profile->stacks.frame[stack], func = profile->frames.func[frame];
        const struct frame_table *frames = &profile->frames;
        const struct library *lib = &profile->libs.data[frames->lib[frame]];
        const struct native_symbol *symbol = &profile->native_symbols.data[frames->native_symbol[frame]];
        const struct category *category = &profile->categories.data[frames->category[frame]];
        out += sprintf(out, "%s:%u %s", profile_text(profile, profile->funcs.name[func]), frames->line[frame],
                       profile_text(profile, profile->sources.data[profile->funcs.source[func]].filename));
        out += sprintf(out, " %s %s %s", profile_text(profile, lib->path), profile_text(profile, lib->code_id),
                       profile_text(profile, profile->resources.data[profile->funcs.resource[func]].name));
        out += sprintf(out, " %s of %s", profile_text(profile, symbol->name),
                       profile_text(profile, profile->libs.data[symbol->lib].path));
        out += sprintf(out, " %s/%s\n", profile_text(profile, category->name),
                       profile_text(profile, category->subcategories.data[frames->subcategory[frame]]));
    }
    return out;
}

static char *describe_samples(char *out, const struct profile *profile, const struct sample_table *samples)
{
    for (size_t i = 0; i < samples->length; i++) {
        out += sprintf(out, "at %g\n", samples->time[i]);
        out = describe_stack(out, profile, samples->stack[i]);
    }
    return out;
}

/* What the thread says; the caller frees it. Samples of events stand in the order of `names`. */
static char *describe(const struct profile *profile, size_t number, const char *const *names, size_t name_count)
{
    char *description = calloc(TEXT, 1), *out = description;
    const struct thread *thread = &profile->threads.data[number];
    out += sprintf(out, "%s\n", profile_text(profile, thread->name));
    out = describe_samples(out, profile, &thread->samples);
    for (size_t i = 0; i + 1 < TABLE_EVENTS && i < thread->more.length; i++)
        out = describe_samples(out, profile, &thread->more.data[i]);
    for (size_t k = 0; k < name_count; k++)
        for (size_t i = 0; i < profile->meta.events.length; i++)
            if (strcmp(profile_text(profile, profile->meta.events.data[i].name), names[k]) == 0 &&
                TABLE_EVENTS - 1 + i < thread->more.length && thread->more.data[TABLE_EVENTS - 1 + i].length) {
                out += sprintf(out, "%s\n", names[k]);
                out = describe_samples(out, profile, &thread->more.data[TABLE_EVENTS - 1 + i]);
            }
    assert_true(out < description + TEXT);
    return description;
}

static void check_merge(unsigned events, unsigned other_events)
{
    struct profile into, from;
    struct error err = {""};
    char names[32][16], *wanted[4];
    const char *pointers[32];
    for (unsigned i = 0; i < 32; i++) {
        snprintf(names[i], sizeof(names[i]), "event %u", i);
        pointers[i] = names[i];
    }
    make_profile(&into, 2, events);
    make_profile(&from, 4, other_events);
    for (size_t i = 0; i < 4; i++)
        wanted[i] = describe(i < 2 ? &into : &from, i % 2, pointers, 32);
    size_t strings = from.strings.entries.length;
    assert_int_equal(profile_merge(&into, &from, &err), 0);
    assert_int_equal(into.threads.length, 4);
    for (size_t i = 0; i < 4; i++) {
        char *got = describe(&into, i, pointers, 32);
        assert_string_equal(got, wanted[i]);
        free(got);
        free(wanted[i]);
    }
    /* 2 to 5 and 4 to 7: what both have is there once. */
    assert_int_equal(into.libs.length, 6);
    assert_int_equal(into.sources.length, 6);
    assert_int_equal(into.native_symbols.length, 6);
    assert_int_equal(into.resources.length, 6);
    assert_int_equal(into.funcs.length, 6);
    assert_int_equal(from.strings.entries.length, strings);
    profile_destroy(&from);
    profile_destroy(&into);
}

static void test_samples_are_what_they_were(void **state)
{
    (void)state;
    check_merge(0, 0);
}

static void test_samples_of_events_are_with_their_event(void **state)
{
    (void)state;
    check_merge(4, 4);
    check_merge(0, 3);
    check_merge(3, 0);
}

static void test_events_beyond_the_limit_are_left_out(void **state)
{
    (void)state;
    struct profile into, from;
    struct error err = {""};
    make_profile(&into, 0, PROFILE_EVENTS_MAX - 2);
    make_profile(&from, 100, 4);
    assert_int_equal(profile_merge(&into, &from, &err), 0);
    assert_int_equal(into.meta.events.length, PROFILE_EVENTS_MAX);
    assert_string_equal(profile_text(&into, into.meta.events.data[PROFILE_EVENTS_MAX - 1].name), "event 101");
    for (size_t i = 0; i < into.threads.length; i++)
        assert_true(into.threads.data[i].more.length <= TABLE_EVENTS - 1 + PROFILE_EVENTS_MAX);
    profile_destroy(&from);
    profile_destroy(&into);
}

/* A process of the other file that has the number of one here is another process. */
static void test_processes_with_one_number_are_told_apart(void **state)
{
    (void)state;
    struct profile into, from;
    struct error err = {""};
    make_profile(&into, 1, 0);
    make_profile(&from, 2, 0);
    assert_int_equal(profile_merge(&into, &from, &err), 0);
    assert_string_equal(profile_text(&into, into.threads.data[1].pid), "pid 2");
    assert_string_equal(profile_text(&into, into.threads.data[2].pid), "pid 2.1");
    assert_string_equal(profile_text(&into, into.threads.data[3].pid), "pid 3");
    profile_destroy(&from);
    profile_destroy(&into);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_samples_are_what_they_were),
        cmocka_unit_test(test_samples_of_events_are_with_their_event),
        cmocka_unit_test(test_events_beyond_the_limit_are_left_out),
        cmocka_unit_test(test_processes_with_one_number_are_told_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
