#include "tree/quantity.h"

/* "1234567" -> "1,234,567"; `text` must be large enough for the commas. */
static void group_thousands(char *text)
{
    size_t digits = strspn(text, "-") + strspn(text + strspn(text, "-"), "0123456789");
    for (size_t at = digits; at > strspn(text, "-") + 3;) {
        at -= 3;
        memmove(text + at + 1, text + at, strlen(text + at) + 1);
        text[at] = ',';
    }
}

void format_count(char out[QUANTITY_TEXT_MAX], double value)
{
    snprintf(out, QUANTITY_TEXT_MAX, fabs(value) < 1e15 ? "%.0f" : "%g", value);
    if (fabs(value) < 1e15)
        group_thousands(out);
}

/* Formats three digits, without zeros at the end: "12.5", "340", "1.2". */
static void format_short(char *out, double value, const char *unit)
{
    double size = fabs(value);
    char number[QUANTITY_TEXT_MAX / 2];
    if (size >= 1e15)
        snprintf(number, sizeof(number), "%g", value);
    else
        snprintf(number, sizeof(number), "%.*f", size >= 100 ? 0 : size >= 10 ? 1 : 2, value);
    if (strchr(number, '.')) {
        size_t end = strlen(number);
        while (number[end - 1] == '0')
            end--;
        number[number[end - 1] == '.' ? end - 1 : end] = '\0';
    }
    snprintf(out, QUANTITY_TEXT_MAX, "%s %s", number, unit);
}

void format_bytes(char out[QUANTITY_TEXT_MAX], double value)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
    size_t unit = 0;
    while (fabs(value) >= 1024 && unit < sizeof(units) / sizeof(*units) - 1) {
        value /= 1024;
        unit++;
    }
    snprintf(out, QUANTITY_TEXT_MAX, unit == 0 || fabs(value) >= 100 ? "%.0f %s" : "%.1f %s", value, units[unit]);
}

void format_duration(char out[QUANTITY_TEXT_MAX], double ms)
{
    double size = fabs(ms);
    if (size >= 1000 || size == 0)
        format_short(out, size == 0 ? 0 : ms / 1000, size == 0 ? "ms" : "s");
    else if (size >= 1)
        format_short(out, ms, "ms");
    else if (size >= 1e-3)
        format_short(out, ms * 1e3, "µs");
    else
        format_short(out, ms * 1e6, "ns");
}

/* Rounds a weight to one decimal, from the six decimals of JSON: 641.4499999999, a sum of times, is 641.5 everywhere.
 */
static double round_to_tenths(double value)
{
    return fabs(value) < 1e9 ? round(round(value * 1e6) / 1e5) / 10 : value;
}

void format_time(char out[QUANTITY_TEXT_MAX], double ms)
{
    if (fabs(ms) < 100)
        snprintf(out, QUANTITY_TEXT_MAX, "%.1f ms", round_to_tenths(ms));
    else
        snprintf(out, QUANTITY_TEXT_MAX, "%.*f s", fabs(ms) < 1e5 ? 3 : 1, ms / 1000);
    if (fabs(ms) < 1e15)
        group_thousands(out);
}

void format_weight(char out[QUANTITY_TEXT_MAX], double weight, const char *unit)
{
    bool is_whole = strcmp(unit, "ms") != 0 && weight == floor(weight);
    if (strcmp(unit, "bytes") == 0) {
        format_bytes(out, weight);
        return;
    }
    snprintf(out, QUANTITY_TEXT_MAX,
             fabs(weight) >= 1e15 ? "%.6g"
             : is_whole           ? "%.0f"
                                  : "%.1f",
             round_to_tenths(weight));
    if (fabs(weight) < 1e15)
        group_thousands(out);
}

/* Rounds an estimate to the decimal place of half of its 95 % interval: 3,389 with an error of 120 to 3,400. At least
 * one digit stays. Without an error, returns the value. */
static double round_estimate(double value, double error)
{
    if (!(error > 0) || value == 0)
        return value;
    double place = pow(10, floor(fmin(log10(error), log10(fabs(value)))));
    return round(value / place) * place;
}

void format_estimate(char out[QUANTITY_TEXT_MAX], double value, double error, const char *unit)
{
    char text[QUANTITY_TEXT_MAX];
    double least = strcmp(unit, "ms") == 0 ? 0.05 : 0.5; /* smaller errors are not visible */
    error = error < least ? 0 : error;
    bool is_whole = error >= 1 && strcmp(unit, "ms") == 0;
    format_weight(text, round_estimate(value, error), is_whole ? "" : unit);
    snprintf(out, QUANTITY_TEXT_MAX, "%s%.80s", error > 0 ? "about " : "", text);
}
