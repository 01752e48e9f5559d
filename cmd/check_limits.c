#include "cmd/check_limits.h"

#include "cmd/common/ui.h"

#include <ctype.h>
#include <fnmatch.h>

/* ---- parsing ---- */

static const char *skip_blanks(const char *text)
{
    while (isspace((unsigned char)*text))
        text++;
    return text;
}

/* Parses the subject of a limit up to `end`: "total", "self(PATTERN)" or "total(PATTERN)". */
static bool parse_subject(struct limit *limit, const char *text, const char *end)
{
    while (end > text && isspace((unsigned char)end[-1]))
        end--;
    bool is_self = strncmp(text, "self", 4) == 0, is_total = strncmp(text, "total", 5) == 0;
    const char *rest = text + (is_self ? 4 : 5);
    if ((!is_self && !is_total) || rest > end)
        return false;
    limit->subject = is_self ? LIMIT_SELF : LIMIT_TOTAL;
    if (rest == end && is_total) {
        limit->subject = LIMIT_ALL;
        return true;
    }
    if (end - rest < 3 || *rest != '(' || end[-1] != ')')
        return false;
    limit->pattern = strndup(rest + 1, (size_t)(end - rest) - 2);
    return limit->pattern != NULL;
}

static bool parse_value(struct limit *limit, const char *text)
{
    static const struct {
        const char *unit;
        double ms;
    } times[] = {{"s", 1000}, {"ms", 1}, {"us", 0.001}};
    bool is_change = *text == '+' || *text == '-';
    char *end;
    limit->value = strtod(text, &end);
    if (end == text || !isfinite(limit->value))
        return false;
    const char *unit = skip_blanks(end);
    size_t length = strlen(unit);
    while (length && isspace((unsigned char)unit[length - 1]))
        length--;
    bool is_percent = length == 1 && *unit == '%';
    limit->kind = is_percent  ? (is_change ? LIMIT_CHANGE_PERCENT : LIMIT_SHARE)
                  : is_change ? LIMIT_CHANGE
                              : LIMIT_AMOUNT;
    if (length == 0 || is_percent)
        return true;
    for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++)
        if (strlen(times[i].unit) == length && strncmp(times[i].unit, unit, length) == 0) {
            limit->value *= times[i].ms;
            limit->is_of_time = true;
            return true;
        }
    return false;
}

bool parse_limit(struct limit *limit, const char *text)
{
    const char *sign = NULL; /* the last > or < of the text: names of functions contain these signs, too */
    for (const char *at = text; *at; at++)
        if (*at == '<' || *at == '>')
            sign = at;
    *limit = (struct limit){.text = text};
    if (!sign || !parse_subject(limit, skip_blanks(text), sign) || !parse_value(limit, skip_blanks(sign + 1))) {
        destroy_limit(limit);
        return false;
    }
    limit->is_upper = *sign == '>';
    if (limit->subject == LIMIT_ALL && limit->kind == LIMIT_SHARE) { /* always 100 % */
        destroy_limit(limit);
        return false;
    }
    return true;
}

void destroy_limit(struct limit *limit)
{
    free(limit->pattern);
    limit->pattern = NULL;
}

/* ---- measuring ---- */

static bool is_change(const struct limit *limit)
{
    return limit->kind == LIMIT_CHANGE_PERCENT || limit->kind == LIMIT_CHANGE;
}

static bool matches_func(const struct limit *limit, const struct report *report, uint32_t func)
{
    const char *name = profile_text(report->profile, get_func_names(report->profile, func).name);
    return fnmatch(limit->pattern, name, 0) == 0;
}

/* One pass over all samples measures several limits, if they share no function. */
struct pass {
    unsigned number; /* 1 the first */
    enum func_order order;
    uint32_t *group_of_func;
    size_t func_count, groups;
};

static enum func_order get_func_order(const struct limit *limit)
{
    return limit->subject == LIMIT_TOTAL ? FUNCS_BY_TOTAL : FUNCS_BY_SELF;
}

/* Puts the functions of the limit into a new group. Returns false if one of these functions already has a group. */
static bool add_group(struct limit *limit, struct pass *pass, const struct report *report)
{
    limit->has_funcs = false;
    for (uint32_t func = 0; func < pass->func_count; func++) {
        bool is_own = matches_func(limit, report, func);
        if (is_own && pass->group_of_func[func] != PROFILE_NONE)
            return false;
        limit->has_funcs |= is_own;
    }
    limit->group = (uint32_t)pass->groups++;
    for (uint32_t func = 0; limit->has_funcs && func < pass->func_count; func++)
        if (matches_func(limit, report, func))
            pass->group_of_func[func] = limit->group;
    return true;
}

/* Returns whether the pass can also measure the i-th limit. */
static bool can_join_pass(struct limit *limits, size_t i, struct pass *pass, const struct report *report)
{
    struct limit *limit = &limits[i];
    if (limit->subject == LIMIT_ALL) {
        limit->group = PROFILE_NONE;
        limit->has_funcs = true;
        return true;
    }
    if (get_func_order(limit) != pass->order)
        return false;
    for (size_t k = 0; k < i; k++)
        if (limits[k].pass == pass->number && limits[k].pattern && strcmp(limits[k].pattern, limit->pattern) == 0) {
            limit->group = limits[k].group;
            limit->has_funcs = limits[k].has_funcs;
            return true;
        }
    return add_group(limit, pass, report);
}

static double measure_limit(const struct limit *limit, const struct change_estimate *all)
{
    double change = limit->change.new - limit->change.base;
    switch (limit->kind) {
    case LIMIT_CHANGE_PERCENT:
        return change == 0 ? 0 : 100 * change / fabs(limit->change.base);
    case LIMIT_CHANGE:
        return change;
    case LIMIT_SHARE:
        return all->new != 0 ? 100 * limit->change.new / all->new : 0;
    case LIMIT_AMOUNT:
        break;
    }
    return limit->change.new;
}

/* Measures the first unmeasured limit, and all other limits that fit into the same pass. */
static int measure_pass(struct limit *limits, size_t count, size_t first, struct pass *pass,
                        const struct report *report, struct error *err)
{
    struct unit_weights weights = {0};
    pass->number++;
    pass->order = get_func_order(&limits[first]);
    pass->groups = 0;
    memset(pass->group_of_func, 0xff, pass->func_count * sizeof(*pass->group_of_func));
    for (size_t i = first; i < count; i++)
        if (!limits[i].pass && can_join_pass(limits, i, pass, report))
            limits[i].pass = pass->number;
    int code = unit_weights_sum(&weights, report->engine, pass->group_of_func, pass->groups, pass->order, err);
    for (size_t i = first; !code && i < count; i++)
        if (limits[i].pass == pass->number) {
            struct change_estimate all = unit_weights_estimate_change_of_all(&weights);
            limits[i].change =
                limits[i].group == PROFILE_NONE ? all : unit_weights_estimate_change(&weights, limits[i].group);
            limits[i].measured = measure_limit(&limits[i], &all);
        }
    unit_weights_destroy(&weights);
    return code;
}

static int measure_limits(struct limit *limits, size_t count, const struct report *report)
{
    struct pass pass = {.func_count = engine_get_nodes(report->engine)->func_count};
    struct error err = {0};
    int code = 0;
    for (size_t i = 0; i < count; i++)
        if (limits[i].is_of_time && strcmp(report->weight.unit, "ms") != 0)
            return ui_usage("check", "'%s' limits time, but the weight counts %s", limits[i].text, report->weight.unit);
    pass.group_of_func = malloc((pass.func_count + 1) * sizeof(*pass.group_of_func));
    if (!pass.group_of_func)
        return ui_fail("out of memory");
    for (size_t i = 0; !code && i < count; i++) {
        if (!limits[i].pass)
            code = measure_pass(limits, count, i, &pass, report, &err);
        if (!code && !limits[i].has_funcs)
            ui_print_message("no function of the profiles matches the limit '%s'", limits[i].text);
    }
    free(pass.group_of_func);
    return code ? ui_fail_with_error(&err) : EXIT_SUCCESS;
}

/* A limit that requires a change, such as "total > -5%", fails even if the change is within noise. */
static enum limit_result judge_limit(const struct limit *limit)
{
    bool is_exceeded = limit->is_upper ? limit->measured > limit->value : limit->measured < limit->value;
    bool allows_none = limit->is_upper ? limit->value >= 0 : limit->value <= 0;
    if (!is_exceeded)
        return limit->has_funcs ? LIMIT_MET : LIMIT_NO_FUNCTION;
    return is_change(limit) && allows_none && limit->change.is_noise ? LIMIT_WITHIN_NOISE : LIMIT_EXCEEDED;
}

int measure_all_limits(struct limit *limits, size_t count, const struct report *report)
{
    struct change_estimate **changes = calloc(count + 1, sizeof(struct change_estimate *));
    struct error err = {0};
    size_t judged = 0;
    if (!changes)
        return ui_fail("out of memory");
    int status = measure_limits(limits, count, report);
    for (size_t i = 0; i < count; i++)
        if (is_change(&limits[i]))
            changes[judged++] = &limits[i].change;
    if (!status && judge_changes(changes, judged, &err))
        status = ui_fail_with_error(&err);
    for (size_t i = 0; !status && i < count; i++)
        limits[i].result = judge_limit(&limits[i]);
    free(changes);
    return status;
}

void format_limit(const struct limit *limit, const struct report *report, char out[QUANTITY_TEXT_MAX])
{
    char amount[QUANTITY_TEXT_MAX];
    format_weight(amount, fabs(limit->measured), report->weight.unit);
    switch (limit->kind) {
    case LIMIT_CHANGE_PERCENT:
        if (isinf(limit->measured))
            snprintf(out, QUANTITY_TEXT_MAX, "appeared");
        else
            snprintf(out, QUANTITY_TEXT_MAX, "%+.1f%%", limit->measured);
        break;
    case LIMIT_SHARE:
        snprintf(out, QUANTITY_TEXT_MAX, "%.1f%%", limit->measured);
        break;
    case LIMIT_CHANGE:
    case LIMIT_AMOUNT:
        snprintf(out, QUANTITY_TEXT_MAX, "%s%.60s %.20s",
                 limit->measured < 0           ? "-"
                 : limit->kind == LIMIT_CHANGE ? "+"
                                               : "",
                 amount, report->weight.unit);
        break;
    }
}
