/*
 * Times reading and writing of a synthetic profile, natively: medians of five.
 *
 *     bench_profile [SAMPLES STACKS THREADS [DEPTH]]        (1000000 300000 8 40)
 */
#include "synthetic.h"

#include "file/profile_file.h"
#include "profile/read.h"
#include "profile/write.h"
#include "../support/memory_sink.h"
#include "../support/timing.h"

#include <sys/stat.h>
#include <unistd.h>

enum { ROUNDS = 5, PIECE = 64 * 1024 };

static void must(int code, const struct error *err)
{
    if (code) {
        fprintf(stderr, "bench_profile: %s\n", err->text);
        exit(1);
    }
}

static void write_json(const struct profile *profile, struct memory *json)
{
    struct error err;
    struct byte_sink sink = memory_sink(json);
    json->length = 0;
    must(profile_write(profile, NULL, 0.01, &sink, &err), &err);
}

static void read_json(const struct memory *json)
{
    struct error err;
    struct profile profile = {0};
    struct profile_reader *reader = profile_reader_new();
    if (!reader)
        exit(1);
    for (size_t fed = 0; fed < json->length; fed += PIECE) {
        size_t size = json->length - fed < PIECE ? json->length - fed : PIECE;
        must(profile_reader_feed(reader, json->data + fed, size, &err), &err);
    }
    must(profile_reader_finish(reader, &profile, &err), &err);
    profile_reader_free(reader);
    profile_destroy(&profile);
}

static void write_file(const struct profile *profile, const char *path)
{
    struct error err;
    struct profile_file *file;
    must(profile_file_create(&file, path, &err), &err);
    struct byte_sink sink = profile_file_make_sink(file);
    must(profile_write(profile, NULL, 0.01, &sink, &err), &err);
    must(profile_file_commit(file, &err), &err);
}

static void read_file(const char *path)
{
    struct error err;
    struct profile profile = {0};
    must(profile_load(path, &profile, &err), &err);
    profile_destroy(&profile);
}

static void measure(const struct profile *profile, uint32_t samples)
{
    double write_ms[ROUNDS], read_ms[ROUNDS], save_ms[ROUNDS], load_ms[ROUNDS];
    struct memory json = {0};
    char path[64];
    snprintf(path, sizeof(path), "/tmp/bench_profile.%ld.json.gz", (long)getpid());
    for (int round = 0; round < ROUNDS; round++) {
        double start = now_ms();
        write_json(profile, &json);
        double written = now_ms();
        read_json(&json);
        double read = now_ms();
        write_file(profile, path);
        double saved = now_ms();
        read_file(path);
        write_ms[round] = written - start;
        read_ms[round] = read - written;
        save_ms[round] = saved - read;
        load_ms[round] = now_ms() - saved;
    }
    struct stat status = {0};
    if (stat(path, &status) == 0)
        unlink(path);
    double megabytes = (double)json.length / 1e6, middle = median(write_ms, ROUNDS);
    printf("profile: %u samples, %.1f MB of JSON, %.2f bytes a sample packed\n", samples, megabytes,
           (double)status.st_size / samples);
    printf("  write JSON        %7.0f ms  %5.0f MB/s\n", middle, megabytes / middle * 1e3);
    middle = median(read_ms, ROUNDS);
    printf("  read JSON         %7.0f ms  %5.0f MB/s  (goal 200)\n", middle, megabytes / middle * 1e3);
    printf("  save as .json.gz  %7.0f ms\n", median(save_ms, ROUNDS));
    printf("  load a .json.gz   %7.0f ms\n", median(load_ms, ROUNDS));
    array_free(&json);
}

int main(int argc, char **argv)
{
    struct synthetic_options options = {.samples = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 1000000,
                                        .stacks = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 300000,
                                        .threads = argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 10) : 8,
                                        .depth = argc > 4 ? (uint32_t)strtoul(argv[4], NULL, 10) : 40,
                                        .seed = 1};
    options.funcs = options.stacks / 15 + 10;
    if (!options.samples || !options.stacks || !options.threads || !options.depth) {
        fprintf(stderr, "usage: %s [SAMPLES STACKS THREADS [DEPTH]]\n", argv[0]);
        return 2;
    }
    struct profile profile;
    struct error err = {""};
    profile_init(&profile);
    must(synthetic_profile(&profile, &options, &err), &err);
    measure(&profile, options.samples);
    profile_destroy(&profile);
    return 0;
}
