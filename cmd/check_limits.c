#include "check_limits.h"

#include "ui.h"

#include <ctype.h>
#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- parsing ---- */

static const char *skip_blanks(const char *text)
{
    while (isspace((unsigned char)*text))
        text++;
    return text;
}

/* "total", "self(PATTERN)", "total(PATTERN)", until `end`. */
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

bool limit_parse(struct limit *limit, const char *text)
{
    const char *sign = NULL; /* the last one: names of functions have such signs, too */
    for (const char *at = text; *at; at++)
        if (*at == '<' || *at == '>')
            sign = at;
    *limit = (struct limit){.text = text};
    if (!sign || !parse_subject(limit, skip_blanks(text), sign) || !parse_value(limit, skip_blanks(sign + 1))) {
        limit_destroy(limit);
        return false;
    }
    limit->is_upper = *sign == '>';
    if (limit->subject == LIMIT_ALL && limit->kind == LIMIT_SHARE) { /* always 100 % */
        limit_destroy(limit);
        return false;
    }
    return true;
}

void limit_destroy(struct limit *limit)
{
    free(limit->pattern);
    limit->pattern = NULL;
}

/* ---- measuring ---- */

static bool is_change(const struct limit *limit)
{
    return limit->kind == LIMIT_CHANGE_PERCENT || limit->kind == LIMIT_CHANGE;
}

/* The functions of the pattern are group 0. False if there are none. */
static bool find_functions(const struct limit *limit, const struct report *report, uint32_t *group_of_func,
                           size_t func_count)
{
    bool any = limit->subject == LIMIT_ALL;
    for (uint32_t func = 0; func < func_count; func++) {
        const char *name = profile_text(report->profile, func_names_of(report->profile, func).name);
        bool fits = limit->pattern && fnmatch(limit->pattern, name, 0) == 0;
        group_of_func[func] = fits ? 0 : PROFILE_NONE;
        any |= fits;
    }
    return any;
}

static double measure(const struct limit *limit, const struct change_estimate *all)
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

static int measure_limit(struct limit *limit, const struct report *report)
{
    size_t func_count = engine_nodes(report->engine)->func_count;
    uint32_t *group_of_func = malloc((func_count + 1) * sizeof(*group_of_func));
    struct unit_weights weights = {0};
    struct error err = {0};
    if (!group_of_func)
        return ui_fail("out of memory");
    if (limit->is_of_time && strcmp(report->weight.unit, "ms") != 0) {
        free(group_of_func);
        return ui_usage("check", "'%s' is about time, and the weight counts %s", limit->text, report->weight.unit);
    }
    limit->has_funcs = find_functions(limit, report, group_of_func, func_count);
    if (!limit->has_funcs)
        ui_say("'%s': no function of the profiles has such a name", limit->text);
    enum func_order order = limit->subject == LIMIT_TOTAL ? FUNCS_BY_TOTAL : FUNCS_BY_SELF;
    int code = unit_weights_sum(&weights, report->engine, group_of_func, 1, order, &err);
    if (!code) {
        struct change_estimate all = unit_weights_change_of_all(&weights);
        limit->change = limit->subject == LIMIT_ALL ? all : unit_weights_change(&weights, 0);
        limit->measured = measure(limit, &all);
    }
    unit_weights_destroy(&weights);
    free(group_of_func);
    return code ? ui_fail_error(&err) : EXIT_SUCCESS;
}

/* A limit that asks for a change, as "total > -5%" does, is not kept by noise. */
static enum limit_result result_of(const struct limit *limit)
{
    bool is_passed = limit->is_upper ? limit->measured > limit->value : limit->measured < limit->value;
    bool allows_none = limit->is_upper ? limit->value >= 0 : limit->value <= 0;
    if (!is_passed)
        return limit->has_funcs ? LIMIT_KEPT : LIMIT_NO_FUNCTION;
    return is_change(limit) && allows_none && limit->change.is_noise ? LIMIT_WITHIN_NOISE : LIMIT_PASSED;
}

int limits_measure(struct limit *limits, size_t count, const struct report *report)
{
    struct change_estimate **changes = calloc(count + 1, sizeof(struct change_estimate *));
    struct error err = {0};
    size_t judged = 0;
    int status = EXIT_SUCCESS;
    if (!changes)
        return ui_fail("out of memory");
    for (size_t i = 0; !status && i < count; i++) {
        status = measure_limit(&limits[i], report);
        if (is_change(&limits[i]))
            changes[judged++] = &limits[i].change;
    }
    if (!status && changes_judge(changes, judged, &err))
        status = ui_fail_error(&err);
    for (size_t i = 0; !status && i < count; i++)
        limits[i].result = result_of(&limits[i]);
    free(changes);
    return status;
}

void limit_format(const struct limit *limit, const struct report *report, char out[QUANTITY_TEXT_MAX])
{
    char amount[QUANTITY_TEXT_MAX];
    weight_text(amount, fabs(limit->measured), report->weight.unit);
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
