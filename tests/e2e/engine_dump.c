/*
 * The native half of the comparison in test_engine_reference: reads a profile, and for each request on standard input
 * prints what the engine answers. engine_reference.mjs prints the same from the WebAssembly engine. Numbers are printed
 * as the bits of a double, so that nothing is lost.
 *
 *     engine_dump PROFILE <REQUESTS
 *     engine_dump --make SEED FILE        writes a small random profile with markers
 */
#include "file/profile_file.h"
#include "profile/write.h"
#include "tree/engine.h"
#include "tree/weight_list.h"
#include "unit/random_markers.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ROWS = 500, DETAILED_ROWS = 40, PATH_DEPTH = 17, MOST_THREADS = 64, MOST_PATH = 32, MOST_TRANSFORMS = 8 };

static const double PATH_SHARE = 0.1;

static void put(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof(bits));
    printf(" %016" PRIx64, bits);
}

static void must(int code, const struct error *err)
{
    if (code) {
        fprintf(stderr, "engine_dump: %s\n", err->text);
        exit(1);
    }
}

static void dump_details(struct engine *engine, uint32_t node)
{
    struct node_details details = {0};
    struct error err;
    must(engine_compute_details(engine, node, &details, &err), &err);
    printf("details %d", details.inlining);
    for (size_t i = 0; i < details.categories_total.length; i++) {
        printf(" %" PRIu32, details.categories_total.data[i].category);
        put(details.categories_total.data[i].weight);
    }
    printf(" self");
    for (size_t i = 0; i < details.categories_self.length; i++) {
        printf(" %" PRIu32, details.categories_self.data[i].category);
        put(details.categories_self.data[i].weight);
    }
    printf(" lines");
    for (size_t i = 0; i < details.lines.length && i < 20; i++) {
        printf(" %" PRIu32, details.lines.data[i].line);
        put(details.lines.data[i].total);
        put(details.lines.data[i].self);
    }
    putchar('\n');
    node_details_destroy(&details);
}

static void dump_rows(struct engine *engine)
{
    struct tree_rows rows = {0};
    struct node_path path = {0};
    struct error err;
    must(engine_list_descendants(engine, NODE_NONE, MOST_ROWS, &rows, &err), &err);
    for (size_t i = 0; i < rows.length; i++) {
        printf("row %" PRIu32 " %" PRIu32 " %" PRIu32 " %d", rows.depth[i], rows.func[i], rows.category[i],
               rows.has_children[i]);
        put(rows.total[i]);
        put(rows.self[i]);
        putchar('\n');
    }
    for (size_t i = 0; i < rows.length && i < DETAILED_ROWS; i++)
        dump_details(engine, rows.node[i]);
    must(engine_find_heaviest_path(engine, PATH_DEPTH, PATH_SHARE, &path, &err), &err);
    printf("path");
    for (size_t i = 0; i < path.length; i++)
        printf(" %" PRIu32, path.data[i]);
    putchar('\n');
    array_free(&path);
    tree_rows_destroy(&rows);
}

static void dump_functions(struct engine *engine)
{
    struct func_timings functions;
    struct error err;
    must(engine_list_functions(engine, FUNCS_BY_SELF, &functions, &err), &err);
    for (size_t i = 0; i < functions.length && i < MOST_ROWS; i++) {
        printf("func %" PRIu32, functions.rows[i].func);
        put(functions.rows[i].total);
        put(functions.rows[i].self);
        putchar('\n');
    }
    func_timings_destroy(&functions);
}

static size_t read_numbers(char **at, uint32_t *numbers, size_t most)
{
    size_t count = 0;
    for (; **at >= '0' && **at <= '9' && count < most; *at += **at == ',')
        numbers[count++] = (uint32_t)strtoul(*at, at, 10);
    return count;
}

/* "KIND:INDEX:INVERTED:FUNC,FUNC..;KIND..." or "-"; the transforms' paths are in `paths`. */
static size_t read_transforms(char **at, struct transform *transforms, uint32_t (*paths)[MOST_PATH])
{
    size_t count = 0;
    if (**at == '-') {
        ++*at;
        return 0;
    }
    do {
        uint32_t kind = (uint32_t)strtoul(*at, at, 10), index = (uint32_t)strtoul(*at + 1, at, 10);
        bool inverted = strtoul(*at + 1, at, 10) != 0;
        ++*at;
        size_t length = read_numbers(at, paths[count], MOST_PATH);
        transforms[count] = (struct transform){.kind = (enum transform_kind)kind,
                                               .index = index,
                                               .inverted = inverted,
                                               .path = paths[count],
                                               .path_length = length};
        count++;
    } while (*(*at)++ == ';' && count < MOST_TRANSFORMS);
    --*at;
    return count;
}

static void dump_rewritten(struct engine *engine)
{
    struct node_path path = {0};
    struct error err;
    for (uint32_t kind = 0; kind < TRANSFORM_KINDS; kind++) {
        must(engine_find_heaviest_path(engine, PATH_DEPTH, PATH_SHARE, &path, &err), &err);
        struct node_path own = {0};
        for (size_t i = 0; i < path.length && i < 2; i++)
            array_push(&own, path.data[i]);
        bool with_path = transform_has_path((enum transform_kind)kind);
        const struct transform transform = {.kind = (enum transform_kind)kind,
                                            .index = path.length ? path.data[path.length / 2] : 1,
                                            .path = own.data,
                                            .path_length = with_path ? own.length : 0};
        must(engine_rewrite_path(engine, &transform, path.data, &path.length, &err), &err);
        printf("rewritten");
        for (size_t i = 0; i < path.length; i++)
            printf(" %" PRIu32, path.data[i]);
        putchar('\n');
        array_free(&own);
    }
    must(engine_find_heaviest_path(engine, 1, 0, &path, &err), &err);
    if (path.length)
        printf("recursion %d\n", engine_find_recursion(engine, path.data[0]));
    array_free(&path);
}

/* What the page asks for if nothing was chosen. */
static enum sample_weight default_weight(const struct engine *engine)
{
    struct weight_list weights = {0};
    struct error err;
    must(list_weights(&weights, engine_get_profile(engine), &err), &err);
    enum sample_weight weight = weights.data[0].kind;
    array_free(&weights);
    return weight;
}

/* "query INVERTED FROM TO THREAD,THREAD... TRANSFORMS SEARCH": a range from 0 to 0 is everything. */
static void answer_query(struct engine *engine, const char *request)
{
    uint32_t threads[MOST_THREADS], paths[MOST_TRANSFORMS][MOST_PATH];
    struct transform transforms[MOST_TRANSFORMS];
    struct tree_query query = {.threads = threads, .range = whole_time, .transforms = transforms};
    int inverted, used;
    double from, to;
    if (sscanf(request, "%d %lf %lf %n", &inverted, &from, &to, &used) != 3)
        exit(2);
    if (from != 0 || to != 0)
        query.range = (struct time_range){from, to};
    char *at = (char *)request + used;
    query.thread_count = read_numbers(&at, threads, MOST_THREADS);
    at += *at == ' ';
    query.transform_count = read_transforms(&at, transforms, paths);
    query.search = *at == ' ' ? at + 1 : at;
    query.search_length = strlen(query.search);
    query.inverted = inverted != 0;
    query.weight = default_weight(engine);
    struct error err;
    must(engine_set_query(engine, &query, &err), &err);
    printf("summary %zu", engine_count_nodes(engine));
    put(engine_get_timings(engine)->root_total);
    put((double)engine_get_timings(engine)->samples);
    putchar('\n');
    dump_rows(engine);
    dump_functions(engine);
    dump_rewritten(engine);
}

static void dump_activity(const struct activity *activity)
{
    for (uint32_t row = 0; row < activity->row_count; row++) {
        printf("activity %" PRIu32, activity->categories[row]);
        for (uint32_t x = 0; x < activity->width; x++)
            put(activity->shares[(size_t)row * activity->width + x]);
        putchar('\n');
    }
}

/* "activity THREAD FROM TO WIDTH SEARCH" */
static void answer_activity(struct engine *engine, const char *request)
{
    uint32_t thread, width;
    double from, to;
    int used;
    if (sscanf(request, "%" SCNu32 " %lf %lf %" SCNu32 " %n", &thread, &from, &to, &width, &used) != 4)
        exit(2);
    struct activity activity;
    struct error err;
    must(engine_compute_activity(engine,
                                 &(struct activity_query){.threads = &thread,
                                                          .thread_count = 1,
                                                          .range = {from, to},
                                                          .width = width,
                                                          .search = request + used,
                                                          .search_length = strlen(request + used)},
                                 &activity, &err),
         &err);
    dump_activity(&activity);
    activity_destroy(&activity);
}

/* "path THREAD FROM TO WIDTH INVERTED FUNC,FUNC... SEARCH" */
static void answer_path(struct engine *engine, const char *request)
{
    uint32_t thread, width, funcs[MOST_PATH];
    double from, to;
    int inverted, used;
    if (sscanf(request, "%" SCNu32 " %lf %lf %" SCNu32 " %d %n", &thread, &from, &to, &width, &inverted, &used) != 5)
        exit(2);
    struct tree_path path = {funcs, 0, inverted != 0};
    char *at = (char *)request + used;
    path.length = read_numbers(&at, funcs, MOST_PATH);
    const char *search = *at == ' ' ? at + 1 : at;
    struct activity activity;
    struct error err;
    must(engine_compute_activity(engine,
                                 &(struct activity_query){.threads = &thread,
                                                          .thread_count = 1,
                                                          .range = {from, to},
                                                          .width = width,
                                                          .search = search,
                                                          .search_length = strlen(search),
                                                          .path = &path},
                                 &activity, &err),
         &err);
    dump_activity(&activity);
    activity_destroy(&activity);
}

/* "sample THREAD TIME" */
static void answer_sample(struct engine *engine, const char *request)
{
    uint32_t thread;
    double time;
    struct sample_place place;
    struct node_path path = {0};
    struct error err;
    if (sscanf(request, "%" SCNu32 " %lf", &thread, &time) != 2)
        exit(2);
    must(engine_find_sample(engine, thread, time, &place, &path, &err), &err);
    printf("sample");
    if (place.is_known) {
        put(place.time);
        put(isnan(place.cpu_percent) ? -1 : place.cpu_percent);
        put(isnan(place.wait.to) ? -1 : place.wait.to);
    }
    putchar('\n');
    array_free(&path);
}

static void answer_requests(struct engine *engine)
{
    char line[1024];
    while (fgets(line, sizeof(line), stdin)) {
        line[strcspn(line, "\n")] = '\0';
        if (strncmp(line, "query ", 6) == 0)
            answer_query(engine, line + 6);
        else if (strncmp(line, "activity ", 9) == 0)
            answer_activity(engine, line + 9);
        else if (strncmp(line, "path ", 5) == 0)
            answer_path(engine, line + 5);
        else if (strncmp(line, "sample ", 7) == 0)
            answer_sample(engine, line + 7);
        else
            exit(2);
    }
}

static void make_profile(uint64_t seed, const char *path)
{
    struct profile profile;
    struct profile_file *file;
    struct error err;
    random_marker_profile(&profile, seed);
    must(profile_file_create(&file, path, &err), &err);
    struct byte_sink sink = profile_file_make_sink(file);
    must(profile_write(&profile, NULL, 0, &sink, &err), &err);
    must(profile_file_commit(file, &err), &err);
    profile_destroy(&profile);
}

int main(int argc, char **argv)
{
    struct profile profile;
    struct error err;
    if (argc == 4 && strcmp(argv[1], "--make") == 0) {
        make_profile(strtoull(argv[2], NULL, 10), argv[3]);
        return 0;
    }
    if (argc != 2)
        return 2;
    profile_init(&profile);
    must(profile_load(argv[1], &profile, &err), &err);
    struct engine *engine = engine_new(&profile, &err);
    must(engine ? 0 : -1, &err);
    answer_requests(engine);
    engine_free(engine);
    return 0;
}
