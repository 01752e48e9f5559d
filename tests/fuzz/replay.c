/*
 * Runs a fuzzer without libFuzzer: on each file of tests/fuzz/corpus/NAME (NAME is that of the program without
 * "fuzz_"), and on every truncation of it. So `make check` runs the parsers on all known bad inputs, under the
 * sanitizers.
 */
#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST_TRUNCATIONS = 2000 }; /* of one file; longer files are cut at evenly spread places */

/* A copy that ends where its allocation ends, so that the sanitizer sees the first byte read too far. */
static void run_on_copy(const unsigned char *bytes, size_t size)
{
    unsigned char *copy = malloc(size ? size : 1);
    if (!copy)
        abort();
    memcpy(copy, bytes, size);
    LLVMFuzzerTestOneInput(copy, size);
    free(copy);
}

static void run_on_file(const char *path, size_t size)
{
    unsigned char *bytes = malloc(size ? size : 1);
    FILE *file = fopen(path, "rb");
    if (!bytes || !file || fread(bytes, 1, size, file) != size) {
        printf("not ok - cannot read %s: %s\n", path, strerror(errno));
        exit(EXIT_FAILURE);
    }
    fclose(file);
    size_t step = size / MOST_TRUNCATIONS + 1;
    for (size_t cut = 0; cut < size; cut += step)
        run_on_copy(bytes, cut);
    run_on_copy(bytes, size);
    free(bytes);
}

int main(int argc, char **argv)
{
    const char *name = argc > 0 ? strrchr(argv[0], '/') : NULL;
    name = name ? name + 1 : "fuzz_";
    char directory[512];
    snprintf(directory, sizeof(directory), "tests/fuzz/corpus/%s", strncmp(name, "fuzz_", 5) ? name : name + 5);
    struct dirent **entries;
    int count = scandir(directory, &entries, NULL, alphasort);
    if (count < 0) {
        printf("not ok - there is no corpus in %s\n", directory);
        return EXIT_FAILURE;
    }
    unsigned files = 0;
    for (int i = 0; i < count; i++) {
        char path[1024];
        snprintf(path, sizeof(path), "%s/%s", directory, entries[i]->d_name);
        struct stat info;
        if (stat(path, &info) == 0 && S_ISREG(info.st_mode)) {
            run_on_file(path, (size_t)info.st_size);
            files++;
        }
        free(entries[i]);
    }
    free(entries);
    printf("%s - %u files and their truncations\n", files ? "ok" : "not ok", files);
    return files ? EXIT_SUCCESS : EXIT_FAILURE;
}
