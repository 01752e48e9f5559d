/*
 * Cached answers equal new ones: without the file, with a better file, and with a cache that is damaged, full, shared
 * or owned by another user.
 */
#include "support/symbol_directory.h"
#include "os/directory.h"
#include "elf/elf_file.h"
#include "symbol/cache_table.h"
#include "symbol/symbol.h"
#include "symbol/symbol_cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char program[64], cache[64];

static int make_directory(void **unused)
{
    (void)unused;
    if (make_empty_directory(NULL) != 0)
        return -1;
    snprintf(program, sizeof(program), "%s/program", directory);
    snprintf(cache, sizeof(cache), "%s/cache", directory);
    write_text("program.c", inlining_source);
    run("gcc -g -O2 -Wl,--build-id -o whole program.c");
    return 0;
}

static int start_anew(void **unused)
{
    (void)unused;
    run("chmod 755 . && rm -rf cache program program.debug && cp whole program && chmod 755 program");
    return 0;
}

/* ---- lookups ---- */

/* The rvas of the 4 KiB that have all of the program's functions, and what a lookup of some of them gives. */
enum { RVA_MAX = 0x400 };

static struct symbol_answers look_up(const char *cache_directory, const struct symbol_lib *lib, const uint64_t *rvas,
                                     size_t count)
{
    struct error err = {""};
    struct symbolizer_options options = {.threads = 2, .use_cache = true, .cache_directory = cache_directory};
    struct symbolizer *symbolizer = symbolizer_new(&options);
    assert_non_null(symbolizer);
    struct symbol_answers answers;
    assert_int_equal(symbolizer_lookup(symbolizer, lib, rvas, count, &answers, &err), 0);
    assert_int_equal(answers.count, count);
    symbolizer_free(symbolizer);
    return answers;
}

static struct symbol_lib library(void)
{
    static unsigned char build_id[20];
    static bool is_known;
    if (!is_known) {
        char command[128];
        snprintf(command, sizeof(command), "readelf -n %s/whole | sed -n 's/ *Build ID: //p'", directory);
        FILE *in = popen(command, "r");
        assert_non_null(in);
        for (size_t i = 0; i < sizeof(build_id); i++) {
            unsigned byte;
            assert_int_equal(fscanf(in, "%2x", &byte), 1);
            build_id[i] = (unsigned char)byte;
        }
        pclose(in);
        is_known = true;
    }
    return (struct symbol_lib){.kind = SYMBOL_LIB_ELF,
                               .name = "program",
                               .path = program,
                               .build_id = build_id,
                               .build_id_size = sizeof(build_id)};
}

/* An address of middle(), where inner() was inlined. */
static uint64_t middle(void)
{
    static uint64_t address;
    if (address)
        return address;
    char command[128];
    snprintf(command, sizeof(command), "nm %s/whole | sed -n 's/ T middle//p'", directory);
    FILE *in = popen(command, "r");
    assert_non_null(in);
    assert_int_equal(fscanf(in, "%lx", &address), 1);
    pclose(in);
    return address;
}

static void assert_inlined(const struct symbol_answers *answers, size_t i)
{
    const struct symbol_answer *answer = &answers->answers[i];
    const struct symbol_frame *frames = answers->frames.data + answer->first_frame;
    char path[80];
    snprintf(path, sizeof(path), "%s/program.c", directory);
    assert_string_equal(answer->symbol, "middle");
    assert_int_equal(answer->symbol_address, middle());
    assert_int_equal(answer->frame_count, 2);
    assert_string_equal(frames[0].function, "middle");
    assert_int_equal(frames[0].line, 7);
    assert_string_equal(frames[1].function, "inner");
    assert_int_equal(frames[1].line, 3);
    assert_string_equal(frames[1].file, path);
}

static void look_up_inlined(const char *cache_directory)
{
    struct symbol_lib lib = library();
    uint64_t rva = middle();
    struct symbol_answers answers = look_up(cache_directory, &lib, &rva, 1);
    assert_inlined(&answers, 0);
    assert_true(answers.is_found);
    assert_true(answers.has_debug_info);
    assert_string_equal(answers.problem, "");
    symbol_answers_destroy(&answers);
}

/* Without debug info: the name alone. */
static void look_up_name(const char *cache_directory)
{
    struct symbol_lib lib = library();
    uint64_t rva = middle();
    struct symbol_answers answers = look_up(cache_directory, &lib, &rva, 1);
    assert_int_equal(answers.answers[0].frame_count, 1);
    assert_string_equal(answers.frames.data[0].function, "middle");
    assert_int_equal(answers.frames.data[0].line, 0);
    assert_false(answers.has_debug_info);
    assert_non_null(strstr(answers.problem, "no debug info"));
    symbol_answers_destroy(&answers);
}

static bool equal_texts(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static void assert_same(const struct symbol_answers *a, const struct symbol_answers *b)
{
    assert_int_equal(a->count, b->count);
    assert_string_equal(a->problem, b->problem);
    for (size_t i = 0; i < a->count; i++) {
        const struct symbol_answer *x = &a->answers[i], *y = &b->answers[i];
        assert_true(equal_texts(x->symbol, y->symbol));
        assert_int_equal(x->symbol_address, y->symbol_address);
        assert_int_equal(x->symbol_size, y->symbol_size);
        assert_int_equal(x->frame_count, y->frame_count);
        for (uint32_t f = 0; f < x->frame_count; f++) {
            const struct symbol_frame *g = &a->frames.data[x->first_frame + f];
            const struct symbol_frame *h = &b->frames.data[y->first_frame + f];
            assert_true(equal_texts(g->function, h->function));
            assert_true(equal_texts(g->file, h->file));
            assert_int_equal(g->line, h->line);
            assert_int_equal(g->column, h->column);
        }
    }
}

/* ---- the file of the library ---- */

static void name_of_file(char path[160])
{
    struct symbol_lib lib = library();
    int used = snprintf(path, 160, "%s/", cache);
    for (size_t i = 0; i < lib.build_id_size; i++)
        used += snprintf(path + used, 160 - (size_t)used, "%02x", lib.build_id[i]);
}

static unsigned char *read_file(size_t *size)
{
    char path[160];
    struct stat info;
    name_of_file(path);
    if (stat(path, &info) != 0)
        return NULL;
    *size = (size_t)info.st_size;
    unsigned char *bytes = malloc(*size);
    FILE *in = fopen(path, "rb");
    assert_non_null(in);
    assert_int_equal(fread(bytes, 1, *size, in), *size);
    fclose(in);
    return bytes;
}

static void write_file(const unsigned char *bytes, size_t size)
{
    char path[160];
    name_of_file(path);
    FILE *out = fopen(path, "wb");
    assert_non_null(out);
    assert_int_equal(fwrite(bytes, 1, size, out), size);
    fclose(out);
}

static bool file_is_good(void)
{
    size_t size = 0;
    unsigned char *bytes = read_file(&size);
    struct cache_table table = {0};
    bool good = bytes && cache_table_decode(&table, bytes, size) == 0 && table.spans.length > 0;
    cache_table_destroy(&table);
    free(bytes);
    return good;
}

static size_t count_files(void)
{
    DIR *list = opendir(cache);
    size_t count = 0;
    if (!list)
        return 0;
    for (struct dirent *entry; (entry = readdir(list)) != NULL;)
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(list);
    return count;
}

/* ---- tests ---- */

static void test_second_lookup_needs_no_file(void **unused)
{
    (void)unused;
    look_up_inlined(cache);
    assert_true(file_is_good());
    run("rm program");
    look_up_inlined(cache);
}

static void test_cached_answers_are_the_same_as_fresh_ones(void **unused)
{
    (void)unused;
    struct symbol_lib lib = library();
    uint64_t rvas[RVA_MAX], start = middle() & ~UINT64_C(0xfff), odd[RVA_MAX / 2];
    for (size_t i = 0; i < RVA_MAX; i++)
        rvas[i] = start + i;
    for (size_t i = 0; i < RVA_MAX / 2; i++)
        odd[i] = start + 2 * i + 1;
    struct symbol_answers fresh = look_up(NULL, &lib, rvas, RVA_MAX), answers = look_up(cache, &lib, odd, RVA_MAX / 2);
    symbol_answers_destroy(&answers);
    for (int round = 0; round < 2; round++) { /* half of them known, then all */
        answers = look_up(cache, &lib, rvas, RVA_MAX);
        assert_same(&fresh, &answers);
        symbol_answers_destroy(&answers);
    }
    symbol_answers_destroy(&fresh);
}

static void test_a_library_without_build_id_is_known_by_its_file(void **unused)
{
    (void)unused;
    run("gcc -g -O2 -Wl,--build-id=none -o program program.c");
    struct symbol_lib lib = {.kind = SYMBOL_LIB_ELF, .name = "program", .path = program};
    uint64_t rva = middle();
    for (int round = 0; round < 2; round++) {
        struct symbol_answers answers = look_up(cache, &lib, &rva, 1);
        assert_int_equal(answers.answers[0].frame_count, 2);
        symbol_answers_destroy(&answers);
        assert_int_equal(count_files(), 1);
    }
    run("sed 's/inner/other/' program.c >other.c && gcc -g -O2 -Wl,--build-id=none -o program other.c");
    struct symbol_answers answers = look_up(cache, &lib, &rva, 1);
    assert_int_equal(answers.answers[0].frame_count, 2);
    assert_string_equal(answers.frames.data[1].function, "other");
    symbol_answers_destroy(&answers);
}

static void assert_name_in(const char *file, const char *name)
{
    struct symbol_lib lib = library();
    uint64_t rva = middle();
    lib.path = file;
    struct symbol_answers answers = look_up(cache, &lib, &rva, 1);
    assert_string_equal(answers.answers[0].symbol, name);
    assert_string_equal(answers.frames.data[answers.answers[0].first_frame].function, name);
    symbol_answers_destroy(&answers);
}

/* Another file with the build id and the size of the program. */
static const char *make_impostor(void)
{
    static char path[80];
    snprintf(path, sizeof(path), "%s/impostor", directory);
    run("rm -f impostor && sed 's/middle/muddle/g' whole >impostor && cp whole program");
    return path;
}

static void test_the_file_of_another_user_gives_no_names_to_this_one(void **unused)
{
    (void)unused;
    if (geteuid() != 0)
        skip();
    const char *impostor = make_impostor();
    run("touch -r program impostor && chown 65534 impostor");
    for (int round = 0; round < 2; round++) {
        assert_name_in(impostor, "muddle");
        assert_name_in(program, "middle");
    }
    assert_int_equal(count_files(), 2);
    run("rm -r cache && chown 0 impostor && chmod 666 impostor"); /* or that others can write */
    for (int round = 0; round < 2; round++) {
        assert_name_in(impostor, "muddle");
        assert_name_in(program, "middle");
    }
}

static void test_an_own_file_with_the_same_build_id_is_another_one(void **unused)
{
    (void)unused;
    const char *impostor = make_impostor();
    run("touch -d '2020-01-01' impostor");
    for (int round = 0; round < 2; round++) {
        assert_name_in(impostor, "muddle");
        assert_name_in(program, "middle");
    }
    assert_int_equal(count_files(), 1);
    run("mv program gone && rm impostor");
    assert_name_in(program, "middle"); /* of a file that is gone, the cached names are the best */
}

static void open_reopened(struct debug_files *files, const struct symbol_lib *lib)
{
    struct error err = {""};
    struct file_source *source;
    assert_int_equal(file_source_new(&source, open(program, O_RDONLY | O_CLOEXEC), -1, program, &err), 0);
    file_source_close(source); /* from now on each reader opens the file */
    *files = (struct debug_files){.lib = lib, .has_mapped = true};
    assert_int_equal(elf_file_open_source(&files->mapped, source, program, &err), 0);
    file_source_unref(source);
}

static void test_a_file_that_is_opened_for_each_use_identifies_its_library(void **unused)
{
    (void)unused;
    run("gcc -g -O2 -Wl,--build-id=none -o program program.c");
    struct error err = {""};
    struct symbol_lib lib = {.kind = SYMBOL_LIB_ELF, .name = "program", .path = program};
    struct symbol_answer list[] = {{.symbol = "middle", .symbol_size = 9}};
    for (size_t round = 0; round < 2; round++) {
        struct symbol_cache *answers = symbol_cache_new(cache);
        assert_non_null(answers);
        struct debug_files files;
        struct cached_library library = {0};
        open_reopened(&files, &lib);
        cached_library_set_files(&library, answers, &lib, &files);
        struct symbol_answers found = {0}, fresh = {.answers = list, .count = 1};
        uint32_t missing[1];
        size_t missing_count;
        assert_int_equal(
            cached_library_fill_answers(&library, (uint64_t[]){7}, 1, &found, missing, &missing_count, &err), 0);
        assert_int_equal(missing_count, 1 - round);
        cached_library_add(&library, (uint64_t[]){7}, NULL, &fresh);
        symbol_answers_destroy(&found);
        cached_library_close(&library);
        debug_files_close(&files);
        symbol_cache_free(answers);
    }
}

static void test_a_debug_file_that_is_installed_later_is_used(void **unused)
{
    (void)unused;
    run("objcopy --only-keep-debug whole program.debug && objcopy --strip-debug --add-gnu-debuglink=program.debug "
        "whole "
        "program && mv program.debug hidden");
    look_up_name(cache);
    look_up_name(cache);
    run("mv hidden program.debug");
    look_up_inlined(cache);
    run("mv program.debug hidden");
    look_up_inlined(cache); /* what was known is better than what could be found now */
    assert_true(file_is_good());
}

static void test_a_name_holds_for_the_rest_of_its_function(void **unused)
{
    (void)unused;
    struct symbol_lib lib = library();
    run("objcopy --strip-debug whole program");
    look_up_name(cache);
    run("rm program");
    for (uint64_t rva = middle(); rva < middle() + 3; rva++) {
        struct symbol_answers answers = look_up(cache, &lib, &rva, 1);
        assert_string_equal(answers.answers[0].symbol, "middle");
        assert_string_equal(answers.frames.data[0].function, "middle");
        symbol_answers_destroy(&answers);
    }
}

static void test_answers_of_another_prof_are_looked_up_anew(void **unused)
{
    (void)unused;
    look_up_inlined(cache);
    size_t size;
    unsigned char *bytes = read_file(&size);
    struct cache_table table = {0};
    assert_int_equal(cache_table_decode(&table, bytes, size), 0);
    free(bytes);
    table.writer++;
    table.frames.data[0].line++;
    bytes = cache_table_encode(&table, &size);
    cache_table_destroy(&table);
    write_file(bytes, size);
    free(bytes);
    look_up_inlined(cache);
}

static void test_every_truncation_and_every_changed_byte_is_noticed(void **unused)
{
    (void)unused;
    look_up_inlined(cache);
    size_t size;
    unsigned char *bytes = read_file(&size);
    struct cache_table table = {0};
    for (size_t cut = 0; cut < size; cut++) {
        unsigned char *copy = malloc(cut + 1); /* of its own, so that a read behind it is seen */
        memcpy(copy, bytes, cut);
        assert_int_equal(cache_table_decode(&table, copy, cut), -EINVAL);
        free(copy);
    }
    for (size_t at = 0; at < size; at++) {
        bytes[at] ^= 0x10;
        assert_int_equal(cache_table_decode(&table, bytes, size), -EINVAL);
        bytes[at] ^= 0x10;
    }
    free(bytes);
}

static void test_a_damaged_file_is_ignored_and_written_anew(void **unused)
{
    (void)unused;
    look_up_inlined(cache);
    size_t size;
    unsigned char *bytes = read_file(&size);
    for (size_t cut = 0; cut < size; cut += size / 8) {
        write_file(bytes, cut);
        look_up_inlined(cache);
        assert_true(file_is_good());
    }
    free(bytes);
}

static void test_many_writers_at_once_leave_a_whole_file(void **unused)
{
    (void)unused;
    enum { WRITERS = 6, ROUNDS = 12 };
    pid_t writers[WRITERS];
    struct symbol_lib lib = library();
    fflush(NULL);
    for (int w = 0; w < WRITERS; w++) {
        writers[w] = fork();
        assert_true(writers[w] >= 0);
        if (writers[w] > 0)
            continue;
        for (uint64_t round = 0; round < ROUNDS; round++) {
            uint64_t rvas[] = {middle() & ~UINT64_C(0xfff), middle(), middle() + 0x100 + round * WRITERS + (uint64_t)w};
            struct symbol_answers answers = look_up(cache, &lib, rvas, 3);
            assert_inlined(&answers, 1);
            symbol_answers_destroy(&answers);
        }
        _exit(0);
    }
    for (int w = 0; w < WRITERS; w++) {
        int status;
        assert_int_equal(waitpid(writers[w], &status, 0), writers[w]);
        assert_int_equal(status, 0);
    }
    assert_true(file_is_good());
    assert_int_equal(count_files(), 1);
    run("rm program");
    look_up_inlined(cache);
}

static void test_a_full_disk_leaves_nothing_behind(void **unused)
{
    (void)unused;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        signal(SIGXFSZ, SIG_IGN);
        setrlimit(RLIMIT_FSIZE, &(struct rlimit){100, 100}); /* write() then stops half way, as on a full disk */
        look_up_inlined(cache);
        look_up_inlined(cache);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(count_files(), 0);
}

/* As a user who is not root, to whom no permission applies. Skips where such a user cannot come to the directory. */
static void run_as_nobody(void (*test)(void))
{
    enum { NOBODY = 65534, CANNOT_ENTER = 77 };
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        if (geteuid() == 0 && (setgid(NOBODY) != 0 || setuid(NOBODY) != 0))
            _exit(1);
        if (access(in_directory("program"), R_OK) != 0)
            _exit(CANNOT_ENTER);
        test();
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == CANNOT_ENTER)
        skip();
    assert_int_equal(status, 0);
}

static void look_up_in_cache(void)
{
    look_up_inlined(cache);
}

static void look_up_name_in_cache(void)
{
    look_up_name(cache);
}

static void test_a_home_that_cannot_be_written_does_no_harm(void **unused)
{
    (void)unused;
    run("chmod 555 .");
    run_as_nobody(look_up_in_cache);
    assert_int_equal(count_files(), 0);
}

static void test_the_directory_of_another_user_is_not_used(void **unused)
{
    (void)unused;
    if (geteuid() != 0)
        skip();
    look_up_inlined(cache); /* as root */
    run("objcopy --strip-debug whole program && chmod 755 program cache && chmod 644 cache/*");
    run_as_nobody(look_up_name_in_cache);
    assert_int_equal(count_files(), 1);
}

static void test_a_directory_where_others_can_write_is_not_used(void **unused)
{
    (void)unused;
    struct error err = {""};
    run("mkdir cache && chmod 777 cache");
    look_up_inlined(cache);
    assert_int_equal(count_files(), 0);
    assert_int_equal(file_directory_open(cache, &err), -EPERM);
    assert_non_null(strstr(err.text, cache));
}

static void test_links_and_files_that_others_can_write_are_not_read(void **unused)
{
    (void)unused;
    struct error err = {""};
    size_t size;
    int opened = file_directory_open(cache, &err);
    assert_true(opened >= 0);
    run("echo good >cache/good && ln -s good cache/link && cp cache/good cache/open && chmod 666 cache/open && mkfifo "
        "cache/pipe && mkdir cache/directory && : >cache/empty");
    static const char *const refused[] = {"link", "open", "pipe", "directory", "empty", "missing"};
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
        assert_null(file_directory_load(opened, refused[i], 1000, &size));
    assert_null(file_directory_load(opened, "good", 4, &size));
    unsigned char *bytes = file_directory_load(opened, "good", 1000, &size);
    assert_int_equal(size, 5);
    assert_memory_equal(bytes, "good\n", 5);
    free(bytes);
    close(opened);
}

static void test_what_was_used_longest_ago_is_removed(void **unused)
{
    (void)unused;
    struct error err = {""};
    char bytes[100] = {0};
    size_t size;
    int opened = file_directory_open(cache, &err);
    assert_true(opened >= 0);
    assert_int_equal(file_directory_save(opened, "a", bytes, sizeof(bytes)), 0);
    assert_int_equal(file_directory_save(opened, "b", bytes, sizeof(bytes)), 0);
    assert_int_equal(file_directory_save(opened, "c", bytes, sizeof(bytes)), 0);
    run("touch -d '3 days ago' cache/a && touch -d '2 days ago' cache/b && touch -d '1 day ago' cache/c");
    run("echo >cache/.new-1-1-d && touch -d '1 day ago' cache/.new-1-1-d && echo >cache/.new-2-2-e");
    unsigned char *used = file_directory_load(opened, "a", 1000, &size); /* the last one to be used now */
    assert_non_null(used);
    free(used);
    file_directory_trim(opened, 250);
    assert_int_equal(access(cache, F_OK), 0);
    assert_int_equal(faccessat(opened, "a", F_OK, 0), 0);
    assert_int_equal(faccessat(opened, "b", F_OK, 0), -1);
    assert_int_equal(faccessat(opened, "c", F_OK, 0), 0);
    assert_int_equal(faccessat(opened, ".new-1-1-d", F_OK, 0), -1); /* a writer was killed */
    assert_int_equal(faccessat(opened, ".new-2-2-e", F_OK, 0), 0);  /* another one writes just now */
    close(opened);
}

static void test_the_directory_is_made_for_this_user_alone(void **unused)
{
    (void)unused;
    char path[96];
    struct error err = {""};
    struct stat info;
    snprintf(path, sizeof(path), "%s/cache/prof", directory);
    int opened = file_directory_open(path, &err);
    assert_true(opened >= 0);
    close(opened);
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0700);
    snprintf(path, sizeof(path), "%s/no/such/parent/prof", directory);
    assert_int_equal(file_directory_open(path, &err), -ENOENT);
}

/* ---- tables ---- */

static void test_wide_spans_take_the_place_of_what_they_overlap(void **unused)
{
    (void)unused;
    struct symbol_answer list[] = {{.symbol = "f", .symbol_size = 100}, {.symbol = "g", .symbol_size = 9}};
    struct symbol_answers answers = {.answers = list, .count = 2};
    struct cache_table table = {0};
    uint64_t points[] = {10, 20}, spans[] = {15, 40}, early[] = {38, 50};
    uint32_t sizes[] = {10, 5}, early_sizes[] = {4, 1};
    assert_true(cache_table_add(&table, points, NULL, &answers));
    assert_true(cache_table_add(&table, early, early_sizes, &answers)); /* ends inside the one at 40 */
    assert_true(cache_table_add(&table, spans, sizes, &answers));
    assert_int_equal(table.spans.length, 4);
    assert_int_equal(cache_table_find(&table, 10), 0);
    assert_int_equal(cache_table_find(&table, 11), CACHE_NONE);
    assert_int_equal(cache_table_find(&table, 15), 1);
    assert_int_equal(cache_table_find(&table, 24), 1);
    assert_int_equal(cache_table_find(&table, 25), CACHE_NONE);
    assert_int_equal(cache_table_find(&table, 39), CACHE_NONE);
    assert_int_equal(cache_table_find(&table, 44), 2);
    assert_int_equal(table.symbols.length, 2); /* each kept once */
    cache_table_destroy(&table);
}

static int decode_again(const struct cache_table *table)
{
    struct cache_table copy = {0};
    size_t size;
    unsigned char *bytes = cache_table_encode(table, &size);
    assert_non_null(bytes);
    int result = cache_table_decode(&copy, bytes, size);
    free(bytes);
    cache_table_destroy(&copy);
    return result;
}

/* The checksum keeps nobody from writing nonsense. */
static void test_nonsense_with_the_right_checksum_is_refused(void **unused)
{
    (void)unused;
    struct symbol_frame frames[] = {{.function = "outer", .file = "a.c"}, {.function = "inner", .file = "a.c"}};
    struct symbol_answer list[] = {{.symbol = "f", .symbol_size = 9, .frame_count = 2}, {.symbol = "g"}};
    struct symbol_answers answers = {.answers = list, .count = 2, .frames = {.data = frames, .length = 2}};
    struct cache_table table = {0};
    uint64_t rvas[] = {10, 20};
    assert_true(cache_table_add(&table, rvas, (uint32_t[]){5, 5}, &answers));
    assert_int_equal(decode_again(&table), 0);
    struct {
        uint32_t *field, nonsense;
    } changes[] = {
        {&table.spans.data[0].symbol, 2},
        {&table.spans.data[0].frame, 2},
        {&table.spans.data[0].size, 0},
        {&table.spans.data[0].size, 11}, /* into the next one */
        {&table.spans.data[1].start, 0},
        {&table.spans.data[1].size, UINT32_MAX},
        {&table.frames.data[0].caller, 0}, /* itself */
        {&table.frames.data[0].caller, 1}, /* in a circle */
        {&table.frames.data[1].caller, 2},
        {&table.frames.data[0].function, (uint32_t)table.texts.length},
        {&table.frames.data[0].file, (uint32_t)table.texts.length},
        {&table.symbols.data[1].name, (uint32_t)table.texts.length},
    };
    for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
        uint32_t before = *changes[i].field;
        *changes[i].field = changes[i].nonsense;
        assert_int_equal(decode_again(&table), -EINVAL);
        *changes[i].field = before;
    }
    table.texts.data[table.texts.length - 1] = 'x'; /* the last one has no end */
    assert_int_equal(decode_again(&table), -EINVAL);
    cache_table_destroy(&table);
}

static void test_addresses_beyond_4_gib_are_left_out(void **unused)
{
    (void)unused;
    struct symbol_answer list[] = {{.symbol = "near"}, {.symbol = "far"}};
    struct symbol_answers answers = {.answers = list, .count = 2};
    struct cache_table table = {0};
    uint64_t rvas[] = {1, UINT64_C(1) << 32 | 1};
    assert_true(cache_table_add(&table, rvas, NULL, &answers));
    assert_int_equal(table.spans.length, 1);
    assert_int_equal(cache_table_find(&table, rvas[1]), CACHE_NONE);
    cache_table_destroy(&table);
}

/* ---- threads ---- */

enum { THREADS = 4 };

struct meeting {
    struct symbol_cache *cache;
    pthread_barrier_t begin, opened;
};

static void *open_and_answer(void *context)
{
    struct meeting *meeting = context;
    struct symbol_lib lib = library();
    uint64_t rva = middle();
    struct symbol_answers answers = {0};
    uint32_t missing[1];
    size_t missing_count;
    pthread_barrier_wait(&meeting->begin);
    struct cached_library library = symbol_cache_open(meeting->cache, &lib);
    pthread_barrier_wait(&meeting->opened); /* none is closed before all are open */
    int code = cached_library_fill_answers(&library, &rva, 1, &answers, missing, &missing_count, NULL);
    if (!code && missing_count == 0)
        cached_library_add(&library, &rva, NULL, &answers);
    symbol_answers_destroy(&answers);
    cached_library_close(&library);
    return code || missing_count ? context : NULL;
}

static void test_threads_open_one_library_at_once(void **unused)
{
    (void)unused;
    look_up_inlined(cache);
    struct meeting meeting = {.cache = symbol_cache_new(cache)};
    pthread_t threads[THREADS];
    void *failed;
    assert_non_null(meeting.cache);
    pthread_barrier_init(&meeting.begin, NULL, THREADS);
    pthread_barrier_init(&meeting.opened, NULL, THREADS);
    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, open_and_answer, &meeting), 0);
    for (size_t i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], &failed), 0);
        assert_null(failed);
    }
    pthread_barrier_destroy(&meeting.begin);
    pthread_barrier_destroy(&meeting.opened);
    symbol_cache_free(meeting.cache);
}

/* ---- decompressed sections ---- */

/* Makes a program with 4,000 functions and compressed debug info, of the build id of the other program. Returns the
 * address of middle(). */
static uint64_t make_packed_program(void)
{
    run("for i in $(seq 4000); do echo \"int f$i(int a) { return a + $i; }\"; done >more.c");
    run("gcc -g -O2 -gz=zlib -Wl,--build-id=0x$(readelf -n whole | sed -n 's/ *Build ID: //p') -o program program.c "
        "more.c && readelf -St program | grep -q ZLIB && nm program | sed -n 's/ T middle//p' >address");
    char path[80];
    uint64_t address;
    snprintf(path, sizeof(path), "%s/address", directory);
    FILE *in = fopen(path, "r");
    assert_non_null(in);
    assert_int_equal(fscanf(in, "%lx", &address), 1);
    fclose(in);
    return address;
}

/* Looks the address up without its earlier answer. */
static void look_up_anew(uint64_t address)
{
    char path[160];
    name_of_file(path);
    unlink(path);
    struct symbol_lib lib = library();
    struct symbol_answers answers = look_up(cache, &lib, &address, 1);
    assert_int_equal(answers.answers[0].frame_count, 2);
    const struct symbol_frame *frames = answers.frames.data + answers.answers[0].first_frame;
    assert_string_equal(frames[0].function, "middle");
    assert_string_equal(frames[1].function, "inner");
    assert_int_equal(frames[1].line, 3);
    symbol_answers_destroy(&answers);
}

/* Writes over the middle of the packed .debug_info, so that the file still seems to be the same. */
static void damage_packed_section(void)
{
    struct elf_file file;
    struct stat info;
    static const unsigned char zeros[256];
    int fd = open(program, O_RDWR | O_CLOEXEC);
    assert_int_equal(fstat(fd, &info), 0);
    assert_int_equal(elf_file_open(&file, program, NULL), 0);
    const struct elf_section *section = elf_file_find_section(&file, ".debug_info");
    off_t at = (off_t)(section->bytes.offset + section->bytes.size / 2);
    assert_int_equal(pwrite(fd, zeros, sizeof(zeros), at), sizeof(zeros));
    elf_file_close(&file);
    const struct timespec times[] = {info.st_atim, info.st_mtim};
    assert_int_equal(futimens(fd, times), 0);
    close(fd);
}

static void test_a_section_is_decompressed_once(void **unused)
{
    (void)unused;
    uint64_t address = make_packed_program();
    look_up_anew(address);
    damage_packed_section();
    look_up_anew(address);
}

static void test_a_kept_section_that_is_damaged_is_decompressed_again(void **unused)
{
    (void)unused;
    uint64_t address = make_packed_program();
    look_up_anew(address);
    run("ls cache/section-* >/dev/null && for f in cache/section-*; do "
        "head -c $(stat -c %%s $f) /dev/zero >zeros && cp zeros $f; done");
    look_up_anew(address);
    damage_packed_section();
    look_up_anew(address);
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup(function, start_anew)
    const struct CMUnitTest tests[] = {
        TEST(test_second_lookup_needs_no_file),
        TEST(test_cached_answers_are_the_same_as_fresh_ones),
        TEST(test_a_library_without_build_id_is_known_by_its_file),
        TEST(test_the_file_of_another_user_gives_no_names_to_this_one),
        TEST(test_an_own_file_with_the_same_build_id_is_another_one),
        TEST(test_a_file_that_is_opened_for_each_use_identifies_its_library),
        TEST(test_a_debug_file_that_is_installed_later_is_used),
        TEST(test_a_name_holds_for_the_rest_of_its_function),
        TEST(test_answers_of_another_prof_are_looked_up_anew),
        TEST(test_every_truncation_and_every_changed_byte_is_noticed),
        TEST(test_a_damaged_file_is_ignored_and_written_anew),
        TEST(test_many_writers_at_once_leave_a_whole_file),
        TEST(test_a_full_disk_leaves_nothing_behind),
        TEST(test_a_home_that_cannot_be_written_does_no_harm),
        TEST(test_the_directory_of_another_user_is_not_used),
        TEST(test_a_directory_where_others_can_write_is_not_used),
        TEST(test_links_and_files_that_others_can_write_are_not_read),
        TEST(test_what_was_used_longest_ago_is_removed),
        TEST(test_the_directory_is_made_for_this_user_alone),
        TEST(test_wide_spans_take_the_place_of_what_they_overlap),
        TEST(test_nonsense_with_the_right_checksum_is_refused),
        TEST(test_addresses_beyond_4_gib_are_left_out),
        TEST(test_threads_open_one_library_at_once),
        TEST(test_a_section_is_decompressed_once),
        TEST(test_a_kept_section_that_is_damaged_is_decompressed_again),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
