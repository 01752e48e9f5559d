/*
 * Writes a large synthetic profile for benchmarks of the engine and the page:
 *
 *     generate_profile SAMPLES STACKS THREADS FILE [DEPTH [SEED [MARKERS [COUNTERS]]]]
 */
#include "synthetic.h"
#include "synthetic_markers.h"

#include "file/profile_file.h"
#include "profile/write.h"

#include <stdio.h>
#include <stdlib.h>

static int write_profile(const struct profile *profile, const char *path, struct error *err)
{
    struct profile_file *file;
    int code = profile_file_create(&file, path, err);
    if (code)
        return code;
    struct byte_sink sink = profile_file_make_sink(file);
    code = profile_write(profile, NULL, 0.001, &sink, err);
    if (code) {
        profile_file_abandon(file);
        return code;
    }
    return profile_file_commit(file, err);
}

int main(int argc, char **argv)
{
    if (argc < 5) {
        fprintf(stderr, "usage: %s SAMPLES STACKS THREADS FILE [DEPTH [SEED [MARKERS [COUNTERS]]]]\n", argv[0]);
        return 2;
    }
    struct synthetic_options options = {.samples = (uint32_t)strtoul(argv[1], NULL, 10),
                                        .stacks = (uint32_t)strtoul(argv[2], NULL, 10),
                                        .threads = (uint32_t)strtoul(argv[3], NULL, 10),
                                        .depth = argc > 5 ? (uint32_t)strtoul(argv[5], NULL, 10) : 40,
                                        .seed = argc > 6 ? strtoull(argv[6], NULL, 10) : 1};
    options.funcs = options.stacks / 15 + 10;
    if (!options.samples || !options.stacks || !options.threads || !options.depth) {
        fprintf(stderr, "%s: samples, stacks, threads and depth are numbers from 1\n", argv[0]);
        return 2;
    }
    struct profile profile;
    struct error err = {0};
    profile_init(&profile);
    int code = synthetic_profile(&profile, &options, &err);
    if (!code && argc > 7)
        code = synthetic_markers(&profile, (uint32_t)strtoul(argv[7], NULL, 10),
                                 argc > 8 ? (uint32_t)strtoul(argv[8], NULL, 10) : 0, options.seed, &err);
    if (!code)
        code = profile_check(&profile, &err);
    if (!code)
        code = write_profile(&profile, argv[4], &err);
    if (code)
        fprintf(stderr, "%s: %s\n", argv[0], err.text);
    else
        fprintf(stderr, "%s: %u samples, %zu stacks, %zu funcs, %zu threads\n", argv[4], options.samples,
                profile.stacks.length, profile.funcs.length, profile.threads.length);
    profile_destroy(&profile);
    return code ? 1 : 0;
}
