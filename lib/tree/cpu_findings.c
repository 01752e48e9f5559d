#include "tree/cpu_findings.h"

#include "base/path.h"
#include "base/starts_with.h"
#include "base/utf8.h"
#include "tree/engine_state.h"
#include "tree/frame_kinds.h"
#include "tree/func_name.h"
#include "tree/line_costs.h"
#include "tree/runtime_frames.h"
#include "tree/stack_view.h"

enum { LEAST_SAMPLES = 20, LONGEST_NAME = 120, HOT_LINES = 1 };

static const double least_share = 0.15, least_line_share = 0.1;

/* A function has marks; a stack has the marks of its functions. */
enum {
    MARK_OWN = 1, /* a function of the program, as in own_frame.h */
    MARK_ALLOCATION = 2,
    MARK_PAGE_FAULT = 4,
    MARK_SYSTEM_CALL = 8,
};

/* The time of some stacks, and the function of the program that has the most of it. */
struct cost {
    double total, of_func;
    uint32_t func; /* PROFILE_NONE: none */
};

struct marked_stacks {
    const struct profile *profile;
    struct counted_stacks counted;
    double whole;
    uint8_t *of_func, *of_stack;
    uint32_t *own; /* for each stack, its innermost function of the program, or PROFILE_NONE */
    double *sums;  /* per func */
};

static bool is_one_of(const char *name, const char *const *names)
{
    for (; *names; names++)
        if (strcmp(name, *names) == 0)
            return true;
    return false;
}

static bool is_allocation(const char *name)
{
    static const char *const names[] = {"malloc",           "free",
                                        "calloc",           "realloc",
                                        "_int_malloc",      "_int_free",
                                        "__libc_malloc",    "__libc_free",
                                        "__libc_calloc",    "__libc_realloc",
                                        "posix_memalign",   "aligned_alloc",
                                        "runtime.mallocgc", "PyObject_Malloc",
                                        "PyObject_Free",    NULL};
    static const char *const starts[] = {"operator new", "operator delete", NULL};
    return is_one_of(name, names) || starts_with_any(name, starts);
}

static uint8_t get_func_marks(const struct profile *profile, uint32_t func)
{
    static const char *const faults[] = {"asm_exc_page_fault",
                                         "exc_page_fault",
                                         "do_user_addr_fault",
                                         "handle_mm_fault",
                                         "do_page_fault",
                                         "el0_da",
                                         NULL};
    static const char *const calls[] = {
        "do_syscall_64", "entry_SYSCALL_64_after_hwframe", "entry_SYSCALL_64", "x64_sys_call", "el0_svc", NULL};
    const char *name = profile_text(profile, get_func_names(profile, func).name);
    enum frame_kind kind = get_frame_kind(profile, func);
    if (kind == FRAME_KERNEL)
        return is_one_of(name, faults) ? MARK_PAGE_FAULT : is_one_of(name, calls) ? MARK_SYSTEM_CALL : 0;
    if (is_allocation(name))
        return MARK_ALLOCATION;
    bool is_code = (kind & FRAME_CODE) && !profile_is_address(name);
    return is_code && !is_runtime_frame(profile, func) && !is_interpreter_frame(profile, func) ? MARK_OWN : 0;
}

static int mark_stacks(struct marked_stacks *marked, struct error *err)
{
    const struct profile *profile = marked->profile;
    const struct stack_table *stacks = &profile->stacks;
    size_t funcs = profile->funcs.length;
    marked->of_func = malloc(funcs + 1);
    marked->of_stack = malloc(stacks->length + 1);
    marked->own = malloc((stacks->length + 1) * sizeof(*marked->own));
    marked->sums = malloc((funcs + 1) * sizeof(*marked->sums));
    if (!marked->of_func || !marked->of_stack || !marked->own || !marked->sums)
        return error_no_memory(err);
    for (uint32_t func = 0; func < funcs; func++)
        marked->of_func[func] = get_func_marks(profile, func);
    for (size_t i = 0; i < stacks->length; i++) {
        uint32_t func = profile->frames.func[stacks->frame[i]], prefix = stacks->prefix[i];
        uint8_t marks = marked->of_func[func];
        marked->of_stack[i] = marks | (prefix == PROFILE_NONE ? 0 : marked->of_stack[prefix]);
        marked->own[i] = marks & MARK_OWN ? func : prefix == PROFILE_NONE ? PROFILE_NONE : marked->own[prefix];
    }
    return 0;
}

static void marked_stacks_destroy(struct marked_stacks *marked)
{
    free(marked->of_func);
    free(marked->of_stack);
    free(marked->own);
    free(marked->sums);
}

/* Sums the stacks with one of the marks, or those that end in `leaf`. */
static struct cost sum_cost(struct marked_stacks *marked, unsigned marks, uint32_t leaf)
{
    const struct profile *profile = marked->profile;
    struct cost cost = {.func = PROFILE_NONE};
    memset(marked->sums, 0, profile->funcs.length * sizeof(*marked->sums));
    for (size_t i = 0; i < profile->stacks.length; i++) {
        bool counts = marks ? marked->of_stack[i] & marks : profile->frames.func[profile->stacks.frame[i]] == leaf;
        double weight = counts ? counted_stacks_get_weight(&marked->counted, i) : 0;
        cost.total += weight;
        if (weight > 0 && marked->own[i] != PROFILE_NONE)
            marked->sums[marked->own[i]] += weight;
    }
    for (uint32_t func = 0; func < profile->funcs.length; func++)
        if (marked->sums[func] > cost.of_func)
            cost = (struct cost){cost.total, marked->sums[func], func};
    return cost;
}

/* ---- sentences ---- */

static const char *get_noun(const struct engine *engine)
{
    return engine->weight == WEIGH_CPU_TIME ? "CPU time" : "the total";
}

/* Writes the name without arguments, cut off at LONGEST_NAME bytes. */
static void write_name(const struct profile *profile, uint32_t func, char out[LONGEST_NAME + 1])
{
    const char *name = profile_text(profile, get_func_names(profile, func).name);
    size_t length = strlen(name);
    char *bare = malloc(length + 1);
    size_t kept = bare ? strip_func_name(name, length, bare) : 0;
    kept = kept > LONGEST_NAME ? (size_t)utf8_cut(bare, LONGEST_NAME) : kept;
    if (bare)
        memcpy(out, bare, kept);
    out[kept] = '\0';
    free(bare);
}

/* Whether the library is the recorded program, whose functions need no library. */
static bool is_program(const struct profile *profile, const char *library)
{
    char command[256];
    snprintf(command, sizeof(command), "%s", profile_text(profile, profile->meta.arguments));
    command[strcspn(command, " ")] = '\0';
    return strcmp(path_get_base_name(command), library) == 0;
}

static int add_hot_function(struct findings *findings, const struct engine *engine, struct marked_stacks *marked,
                            const struct func_timing *row, const struct hot_line *line, double relevance,
                            struct error *err)
{
    const struct profile *profile = marked->profile;
    char name[LONGEST_NAME + 1], own[LONGEST_NAME + 1] = "", place[256] = "";
    const struct func_names names = get_func_names(profile, row->func);
    const char *library = path_get_base_name(profile_text(profile, names.lib));
    bool is_own = marked->of_func[row->func] & MARK_OWN, shows_library = library[0] && !is_program(profile, library);
    write_name(profile, row->func, name);
    if (!is_own) {
        struct cost cost = sum_cost(marked, 0, row->func);
        if (cost.func != PROFILE_NONE && cost.of_func > row->self / 2)
            write_name(profile, cost.func, own);
    }
    if (is_own && line && line->func == row->func && line->self >= least_line_share * marked->whole)
        snprintf(place, sizeof(place), ", %.0f%% in %s:%u", 100 * line->self / marked->whole,
                 path_get_base_name(profile_text(profile, names.file)), line->line);
    const struct finding finding = {.kind = FINDING_FUNCTION,
                                    .weight = row->self / marked->whole * relevance,
                                    .func = row->func,
                                    .line = place[0] ? line->line : 0,
                                    .thread = PROFILE_NONE};
    return findings_add_sentence(findings, finding, err, "%s%s%.*s%s takes %.0f%% of %s%s%s%s.", name,
                                 shows_library ? " (" : "", shows_library ? utf8_cut(library, 100) : 0, library,
                                 shows_library ? ")" : "", 100 * row->self / marked->whole, get_noun(engine), place,
                                 own[0] ? ", mostly for " : "", own);
}

static int add_hot_line(struct findings *findings, const struct engine *engine, const struct marked_stacks *marked,
                        const struct hot_line *line, double relevance, struct error *err)
{
    char name[LONGEST_NAME + 1];
    const struct finding finding = {.kind = FINDING_LINE,
                                    .weight = line->self / marked->whole * relevance,
                                    .func = line->func,
                                    .line = line->line,
                                    .thread = PROFILE_NONE};
    write_name(marked->profile, line->func, name);
    return findings_add_sentence(
        findings, finding, err, "Line %s:%u in %s takes %.0f%% of %s.",
        path_get_base_name(profile_text(marked->profile, get_func_names(marked->profile, line->func).file)), line->line,
        name, 100 * line->self / marked->whole, get_noun(engine));
}

static int add_cost(struct findings *findings, const struct engine *engine, struct marked_stacks *marked,
                    enum finding_kind kind, double relevance, struct error *err)
{
    static const struct {
        enum finding_kind kind;
        unsigned marks;
        const char *subject;
    } costs[] = {{FINDING_ALLOCATIONS, MARK_ALLOCATION, "Allocating and freeing memory takes"},
                 {FINDING_PAGE_FAULTS, MARK_PAGE_FAULT, "Page faults take"},
                 {FINDING_SYSTEM_CALLS, MARK_SYSTEM_CALL, "System calls take"}};
    size_t at = kind - FINDING_ALLOCATIONS;
    char own[LONGEST_NAME + 1] = "";
    struct cost cost = sum_cost(marked, costs[at].marks, PROFILE_NONE);
    double share = cost.total / marked->whole;
    if (share < least_share)
        return 0;
    bool has_place = cost.func != PROFILE_NONE && cost.of_func > cost.total / 3;
    if (has_place)
        write_name(marked->profile, cost.func, own);
    const struct finding finding = {.kind = kind,
                                    .weight = share * relevance,
                                    .func = has_place ? cost.func : PROFILE_NONE,
                                    .thread = PROFILE_NONE};
    return findings_add_sentence(findings, finding, err, "%s %.0f%% of %s%s%s.", costs[at].subject, 100 * share,
                                 get_noun(engine), has_place ? ", mostly for " : "", own);
}

int describe_unnamed_code(struct text_buffer *text, double *share, const struct engine *engine,
                          const struct func_timings *functions, struct error *err)
{
    enum { MOST_NAMED = 3 };
    static const double much = 0.1;
    const struct profile *profile = engine_get_profile(engine);
    double whole = engine_get_timings(engine)->root_total, unnamed = 0;
    const char *named[MOST_NAMED];
    char start[128];
    size_t count = 0, others = 0;
    for (size_t i = 0; i < functions->length; i++) {
        const struct func_timing *row = &functions->rows[i];
        if (row->self <= 0 || row->func >= profile->funcs.length || /* a library has a name */
            !profile_is_address(profile_text(profile, profile->funcs.name[row->func])))
            continue;
        const char *library = path_get_base_name(profile_text(profile, get_func_names(profile, row->func).lib));
        bool is_new = library[0];
        unnamed += row->self;
        for (size_t k = 0; is_new && k < count; k++)
            is_new = strcmp(named[k], library) != 0;
        if (is_new && count < MOST_NAMED)
            named[count++] = library;
        else
            others += is_new;
    }
    *share = whole > 0 ? unnamed / whole : 0;
    if (*share < much)
        return 0;
    snprintf(start, sizeof(start), "%.0f%% of self time is in functions without symbols", 100 * *share);
    bool enough = text_append_z(text, start);
    for (size_t i = 0; enough && i < count; i++)
        enough = text_append_z(text, i == 0                      ? ": "
                                     : i + 1 == count && !others ? " and "
                                                                 : ", ") &&
                 text_append(text, named[i], strnlen(named[i], 64));
    return enough && (!others || text_append_z(text, " and others")) ? 0 : error_no_memory(err);
}

static int add_unnamed(struct findings *findings, const struct engine *engine, const struct func_timings *functions,
                       double relevance, struct error *err)
{
    struct text_buffer text = {0};
    double share;
    int code = describe_unnamed_code(&text, &share, engine, functions, err);
    const struct finding finding = {
        .kind = FINDING_UNNAMED, .weight = share * fmax(relevance, 0.5), .func = PROFILE_NONE, .thread = PROFILE_NONE};
    if (!code && text.length)
        code = findings_add_sentence(findings, finding, err, "%.*s.", (int)text.length, text.data);
    array_free(&text);
    return code;
}

static bool is_findable(const struct marked_stacks *marked, const struct findings *findings, uint32_t func)
{
    const struct profile *profile = marked->profile;
    if (func >= profile->funcs.length || !(get_frame_kind(profile, func) & FRAME_CODE) ||
        profile_is_address(profile_text(profile, profile->funcs.name[func])))
        return false;
    for (size_t i = 0; i < findings->list.length; i++)
        if (findings->list.data[i].kind == FINDING_ALLOCATIONS)
            return !(marked->of_func[func] & MARK_ALLOCATION);
    return true;
}

int findings_add_cpu(struct findings *findings, struct engine *engine, double relevance, struct error *err)
{
    const struct timings *timings = engine_get_timings(engine);
    struct marked_stacks marked = {.profile = engine_get_profile(engine),
                                   .counted = engine_get_counted_stacks(engine),
                                   .whole = timings->root_total};
    struct func_timings functions = {0};
    struct hot_lines lines = {0};
    if (timings->samples < LEAST_SAMPLES || relevance < least_share || !(timings->root_total > 0))
        return 0;
    int code = mark_stacks(&marked, err);
    if (!code)
        code = engine_list_all_functions(engine, FUNCS_BY_SELF, &functions, err);
    if (!code)
        code = hot_lines_compute(&lines, marked.profile, &marked.counted, HOT_LINES, err);
    if (!code)
        code = add_unnamed(findings, engine, &functions, relevance, err);
    for (int kind = FINDING_ALLOCATIONS; !code && kind <= FINDING_SYSTEM_CALLS; kind++)
        code = add_cost(findings, engine, &marked, (enum finding_kind)kind, relevance, err);
    size_t hot = 0;
    while (hot < functions.length && !is_findable(&marked, findings, functions.rows[hot].func))
        hot++;
    const struct hot_line *line = lines.rows.length ? lines.rows.data : NULL;
    bool has_function = !code && hot < functions.length && functions.rows[hot].self >= least_share * marked.whole;
    if (has_function)
        code = add_hot_function(findings, engine, &marked, &functions.rows[hot], line, relevance, err);
    if (!code && line && line->self >= least_share * marked.whole && marked.of_func[line->func] & MARK_OWN &&
        (!has_function || line->func != functions.rows[hot].func))
        code = add_hot_line(findings, engine, &marked, line, relevance, err);
    marked_stacks_destroy(&marked);
    func_timings_destroy(&functions);
    hot_lines_destroy(&lines);
    return code;
}
