/*
 * Large made-up profiles that behave like recorded ones: each thread is a walk up and down one call tree, names are
 * those of a C++ program, a func calls only a few others, and every figure follows from the seed.
 */
#pragma once

#include "../support/sample_rows.h"
#include "profile/profile.h"

#include <stdio.h>
#include <stdlib.h>

struct synthetic_options {
    uint32_t samples, stacks, threads, funcs;
    uint32_t depth; /* of the middle stack */
    uint64_t seed;
};

enum { FRAMES_PER_FUNC = 3, CALLEES = 6, LIBS = 12, SOURCES = 600, CATEGORIES = 4 };

struct maker {
    struct profile *profile;
    const struct synthetic_options *options;
    uint64_t random;
    uint32_t *first_child, *next_sibling, *child_count; /* of each stack */
    uint32_t first_root, root_count;
    uint64_t pushes_left; /* an estimate, to spread new stacks over the whole recording */
};

static uint32_t below(struct maker *maker, uint32_t limit)
{
    maker->random ^= maker->random << 13;
    maker->random ^= maker->random >> 7;
    maker->random ^= maker->random << 17;
    return (uint32_t)((maker->random >> 32) * limit >> 32);
}

static bool chance(struct maker *maker, double probability)
{
    return below(maker, 1u << 30) < probability * (1u << 30);
}

/* ---- names ---- */

static void make_name(struct maker *maker, char *out, size_t size, uint32_t func)
{
    static const char *const spaces[] = {"core",        "net::detail", "render", "std::__1",
                                         "db::storage", "ui",          "json",   "vm::jit"};
    static const char *const classes[] = {"TaskQueue",  "HttpConnection", "GlyphCache", "basic_string", "BTreePage",
                                          "LayoutNode", "ValueParser",    "CodeBuffer", "Allocator",    "EventLoop"};
    static const char *const verbs[] = {"process", "insert",  "lookup",     "flush",   "visit",
                                        "emit",    "resolve", "operator()", "reserve", "decode"};
    static const char *const types[] = {"int",           "std::string const&",  "std::unique_ptr<core::Task>",
                                        "unsigned long", "render::Rect const*", "std::function<void (core::Status)>"};
    const char *space = spaces[below(maker, 8)], *class = classes[below(maker, 10)], *verb = verbs[below(maker, 10)];
    const char *first = types[below(maker, 6)], *second = types[below(maker, 6)];
    switch (below(maker, 4)) {
    case 0:
        snprintf(out, size, "%s_%s_%u", class, verb, func);
        break;
    case 1:
        snprintf(out, size, "%s::%s::%s%u(%s)", space, class, verb, func, first);
        break;
    case 2:
        snprintf(out, size, "%s::%s<%s, %s>::%s%u(%s) const", space, class, first, second, verb, func, second);
        break;
    default:
        snprintf(out, size, "%s::%s<%s>::%s%u<%s>(%s, %s)::{lambda(%s)#1}::operator()(%s) const", space, class, first,
                 verb, func, second, first, second, first, first);
    }
}

/* ---- tables ---- */

static bool make_libs_and_sources(struct maker *maker)
{
    struct profile *profile = maker->profile;
    char text[128];
    for (uint32_t i = 0; i < LIBS; i++) {
        snprintf(text, sizeof(text),
                 i == 0   ? "application"
                 : i == 1 ? "[kernel.kallsyms]"
                          : "libpart%u.so.%u",
                 i, i % 5);
        uint32_t name = strings_add_z(&profile->strings, text);
        snprintf(text, sizeof(text), "/usr/lib/x86_64-linux-gnu/%s", strings_text(&profile->strings, name));
        uint32_t path = strings_add_z(&profile->strings, text);
        struct library lib = {strings_add_z(&profile->strings, "x86_64"),
                              name,
                              path,
                              name,
                              path,
                              strings_add_z(&profile->strings, "0123456789ABCDEF0123456789ABCDEF0"),
                              PROFILE_NONE};
        struct resource resource = {name, PROFILE_NONE, 1};
        if (!array_push(&profile->libs, lib) || !array_push(&profile->resources, resource))
            return false;
    }
    for (uint32_t i = 0; i < SOURCES; i++) {
        snprintf(text, sizeof(text), "/home/build/application/src/module%u/file%u.cpp", i % 40, i);
        struct source source = {.filename = strings_add_z(&profile->strings, text),
                                .id = PROFILE_NONE,
                                .start_line = 1,
                                .start_column = 1,
                                .content = PROFILE_NONE,
                                .source_map_url = PROFILE_NONE};
        if (!array_push(&profile->sources, source))
            return false;
    }
    return true;
}

static bool make_funcs(struct maker *maker)
{
    struct profile *profile = maker->profile;
    for (uint32_t i = 0; i < maker->options->funcs; i++) {
        char name[512];
        make_name(maker, name, sizeof(name), i);
        uint32_t lib = below(maker, LIBS);
        uint32_t string = strings_add_z(&profile->strings, name);
        uint32_t func = profile_add_func(profile, string, lib);
        if (string == STRING_NONE || func == PROFILE_NONE)
            return false;
        profile->funcs.source[func] = below(maker, SOURCES);
        profile->funcs.line[func] = 1 + below(maker, 3000);
        struct native_symbol symbol = {lib, (int64_t)i * 256, string, 256};
        if (!array_push(&profile->native_symbols, symbol))
            return false;
        for (uint32_t k = 0; k < FRAMES_PER_FUNC; k++) {
            uint32_t frame = profile_add_frame(profile, func, lib, (int64_t)i * 256 + 16 * k + 4);
            if (frame == PROFILE_NONE)
                return false;
            profile->frames.line[frame] = profile->funcs.line[func] + k * 3;
            profile->frames.native_symbol[frame] = func;
            profile->frames.category[frame] = lib == 1 ? 1 : 0;
            profile->frames.subcategory[frame] = 0;
        }
    }
    return true;
}

/* ---- the call tree ---- */

static uint32_t link_stack(struct maker *maker, uint32_t parent, uint32_t frame)
{
    uint32_t stack = profile_add_stack(maker->profile, parent, frame);
    if (stack == PROFILE_NONE)
        return stack;
    uint32_t *first = parent == PROFILE_NONE ? &maker->first_root : &maker->first_child[parent];
    uint32_t *count = parent == PROFILE_NONE ? &maker->root_count : &maker->child_count[parent];
    maker->next_sibling[stack] = *first;
    maker->first_child[stack] = PROFILE_NONE;
    *first = stack;
    ++*count;
    return stack;
}

static uint32_t some_child(struct maker *maker, uint32_t parent)
{
    uint32_t child = parent == PROFILE_NONE ? maker->first_root : maker->first_child[parent];
    uint32_t count = parent == PROFILE_NONE ? maker->root_count : maker->child_count[parent];
    for (uint32_t steps = count ? below(maker, count < 8 ? count : 8) : 0; steps; steps--)
        child = maker->next_sibling[child];
    return child;
}

static uint32_t new_child(struct maker *maker, uint32_t parent)
{
    struct profile *profile = maker->profile;
    uint32_t caller = parent == PROFILE_NONE ? 0 : profile->frames.func[profile->stacks.frame[parent]];
    uint64_t callee = caller * UINT64_C(2654435761) + below(maker, CALLEES) * UINT64_C(40503);
    uint32_t frame = (uint32_t)(callee % maker->options->funcs) * FRAMES_PER_FUNC + below(maker, FRAMES_PER_FUNC);
    uint32_t child = parent == PROFILE_NONE ? maker->first_root : maker->first_child[parent];
    for (; child != PROFILE_NONE; child = maker->next_sibling[child])
        if (profile->stacks.frame[child] == frame)
            return child;
    return link_stack(maker, parent, frame);
}

/* The stack that a call from `parent` leads to; PROFILE_NONE if it calls nothing (any more). */
static uint32_t call(struct maker *maker, uint32_t parent)
{
    size_t stacks = maker->profile->stacks.length;
    double missing = (double)(maker->options->stacks - stacks);
    double left = maker->pushes_left > 1 ? (double)maker->pushes_left-- : 1;
    if (stacks < maker->options->stacks && chance(maker, missing / left * 1.5))
        return new_child(maker, parent);
    return some_child(maker, parent);
}

static bool make_samples(struct maker *maker, struct sample_table *samples, uint32_t count)
{
    uint32_t stack = PROFILE_NONE, depth = 0;
    double time = below(maker, 1000) / 1000.0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t pops = below(maker, 7), pushes = below(maker, depth < maker->options->depth ? 10 : 5);
        for (; pops && depth > 3; pops--, depth--)
            stack = maker->profile->stacks.prefix[stack];
        for (; pushes || depth<3; pushes -= pushes> 0) {
            uint32_t child = call(maker, stack);
            if (child == PROFILE_NONE)
                break;
            stack = child;
            depth++;
        }
        time += 0.98 + below(maker, 40) / 1000.0;
        if (!samples_add(samples, stack, time))
            return false;
        samples->cpu_delta[i] = i % 400 < 300 ? 990 + below(maker, 20) : below(maker, 300);
    }
    return true;
}

static bool make_threads(struct maker *maker)
{
    struct profile *profile = maker->profile;
    for (uint32_t i = 0; i < maker->options->threads; i++) {
        struct thread *thread = profile_add_thread(profile);
        char text[32];
        if (!thread || !samples_give_cpu_delta(&thread->samples))
            return false;
        snprintf(text, sizeof(text), i ? "worker %u" : "application", i);
        thread->name = strings_add_z(&profile->strings, text);
        thread->process_name = strings_add_z(&profile->strings, "application");
        thread->process_type = strings_add_z(&profile->strings, "default");
        thread->pid = strings_add_z(&profile->strings, "1000");
        snprintf(text, sizeof(text), "%u", 1000 + i);
        thread->tid = strings_add_z(&profile->strings, text);
        thread->is_main = i == 0;
        thread->process_start = thread->start = 0;
        uint32_t share = maker->options->samples / maker->options->threads;
        if (!make_samples(maker, &thread->samples,
                          i ? share : maker->options->samples - share * (maker->options->threads - 1)))
            return false;
    }
    return true;
}

/* Fills an initialized profile. Makes `stacks` stacks, or a few less where the samples are too few to reach so many. */
static int synthetic_profile(struct profile *profile, const struct synthetic_options *options, struct error *err)
{
    static const char *const categories[CATEGORIES][2] = {
        {"User", "yellow"}, {"Kernel", "orange"}, {"Idle", "transparent"}, {"Other", "grey"}};
    struct maker maker = {.profile = profile,
                          .options = options,
                          .random = options->seed * 2 + UINT64_C(88172645463325252),
                          .first_root = PROFILE_NONE,
                          .pushes_left = (uint64_t)options->samples * 3};
    size_t room = ((size_t)options->stacks + 1) * sizeof(uint32_t);
    maker.first_child = malloc(room);
    maker.next_sibling = malloc(room);
    maker.child_count = calloc(1, room);
    bool done = maker.first_child && maker.next_sibling && maker.child_count;
    for (size_t i = 0; done && i < CATEGORIES; i++)
        done = profile_add_category(profile, categories[i][0], categories[i][1]) != PROFILE_NONE;
    profile->meta.interval = 1;
    profile->meta.start_time = 1767225600000;
    profile->meta.symbolicated = 1;
    profile->meta.has_cpu_delta = true;
    profile->meta.product = strings_add_z(&profile->strings, "synthetic");
    done = done && make_libs_and_sources(&maker) && make_funcs(&maker) && make_threads(&maker);
    free(maker.first_child);
    free(maker.next_sibling);
    free(maker.child_count);
    return done ? 0 : error_no_memory(err);
}
