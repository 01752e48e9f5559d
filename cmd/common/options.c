#include "cmd/common/options.h"

#include "cmd/common/quantities.h"
#include "cmd/common/ui.h"

#include "base/shell_quote.h"
#include "base/typing_distance.h"

#include <getopt.h>

enum { MOST_OPTIONS = 96, FIRST_CODE = 256, NAME_SIZE = 32, LABEL_SIZE = 64, HELP_COLUMNS = 116 };

static const struct option_row help_row = {.name = "help", .letter = 'h'};

/* ---- parsers of values ---- */

static void *get_field(const struct option_use *use)
{
    return (char *)use->group + use->row->field;
}

int option_set_flag(const struct option_use *use)
{
    *(bool *)get_field(use) = true;
    return 0;
}

int option_set_value(const struct option_use *use)
{
    *(unsigned *)get_field(use) = (unsigned)use->row->data;
    return 0;
}

/* "auto perf ptrace" in the message is "auto, perf or ptrace". */
int option_set_choice(const struct option_use *use)
{
    char list[256] = "";
    unsigned index = 0;
    for (const char *at = use->row->choices; *at; index++) {
        size_t length = strcspn(at, " "), used = strlen(list);
        if (strlen(use->value) == length && strncmp(use->value, at, length) == 0) {
            *(unsigned *)get_field(use) = (unsigned)use->row->data + index;
            return 0;
        }
        snprintf(list + used, sizeof(list) - used, "%s%.*s", !index ? "" : at[length] ? ", " : " or ", (int)length, at);
        at += length + (at[length] == ' ');
    }
    return ui_usage(use->command, "--%s takes %s, not '%s'", use->row->name, list, use->value);
}

int option_set_number(const struct option_use *use)
{
    uint64_t number;
    if (!parse_number(use->value, 1, (uint64_t)use->row->data, &number))
        return ui_usage(use->command, "--%s takes a number from 1 to %d, not '%s'", use->row->name, use->row->data,
                        use->value);
    *(uint32_t *)get_field(use) = (uint32_t)number;
    return 0;
}

int option_set_size(const struct option_use *use)
{
    return parse_size(use->value, get_field(use))
               ? 0
               : ui_usage(use->command, "'%s' is not a size (K, M, G), such as 64M", use->value);
}

int option_set_time(const struct option_use *use)
{
    return parse_time(use->value, get_field(use))
               ? 0
               : ui_usage(use->command, "'%s' is not a time (ms, s, min, h), such as 30s", use->value);
}

int option_set_text(const struct option_use *use)
{
    *(const char **)get_field(use) = use->value;
    return 0;
}

int option_set_name(const struct option_use *use)
{
    if (*use->value)
        return option_set_text(use);
    const char letter[] = {'-', use->row->letter, '/', '\0'};
    return ui_usage(use->command, "%s--%s needs the name of a %s", use->row->letter ? letter : "", use->row->name,
                    strstr(use->row->value, "DIR") ? "directory" : "file");
}

int option_add_text(const struct option_use *use)
{
    struct option_texts *texts = get_field(use);
    if (!*use->value)
        return ui_usage(use->command, "--%s needs a value", use->row->name);
    return array_push(texts, use->value) ? 0 : ui_fail("out of memory");
}

/* ---- wrong options ---- */

/* Options of perf that have another name in prof. */
static const struct {
    const char *typed, *meant;
} perf_options[] = {{"-F", "rate"}, {"--freq", "rate"}, {"--all-cpus", "all"}, {"--tid", "thread"}};

/* Finds the option that `typed` ("--ouput") resembles most, or NULL if none is close. */
static const char *find_similar_option(const struct option_row *const *rows, const char *typed)
{
    const char *meant = NULL;
    size_t least = 3; /* an option with more than two typos counts as another word */
    for (size_t i = 0; rows[i]; i++) {
        char option[NAME_SIZE];
        size_t length = (size_t)snprintf(option, sizeof(option), "--%s", rows[i]->name);
        for (size_t k = 0; k < sizeof(perf_options) / sizeof(*perf_options); k++)
            if (!strcmp(typed, perf_options[k].typed) && !strcmp(rows[i]->name, perf_options[k].meant))
                return rows[i]->name;
        bool is_beginning = strlen(typed) > 3 && !strncmp(option, typed, strlen(typed));
        size_t distance = is_beginning ? 0 : compute_typing_distance(typed, option);
        if (distance >= least || distance + 2 >= length)
            continue;
        least = distance;
        meant = rows[i]->name;
    }
    return meant;
}

static int print_unknown_option(const char *command, const struct option_row *const *rows, const char *option)
{
    char typed[NAME_SIZE];
    snprintf(typed, sizeof(typed), "%.*s", (int)strcspn(option, "="), option);
    if (!strcmp(command, "record") && (!strcmp(typed, "-g") || !strcmp(typed, "--call-graph")))
        return ui_usage(command, "unknown option %s; prof always records call graphs", option);
    const char *meant = find_similar_option(rows, typed);
    return meant ? ui_usage(command, "unknown option %s; did you mean --%s?", option, meant)
                 : ui_usage(command, "unknown option %s", option);
}

static int print_bad_option(const char *command, const struct option_row *const *rows, int result, char **argv)
{
    /* After a failure getopt_long() has the letter of a short option in optopt, or 0 for an unknown long option. The
     * word that getopt_long() rejected is argv[optind - 1]. */
    const char *word = argv[optind - 1];
    const char letter[] = {'-', (char)optopt, '\0'};
    if (result == ':')
        return ui_usage(command, "%s needs a value", word);
    if (!optopt)
        return print_unknown_option(command, rows, word);
    if (!strncmp(word, "--", 2) && strchr(word, '='))
        return ui_usage(command, "this option takes no value: %s", word);
    return print_unknown_option(command, rows, letter);
}

/* ---- the command line ---- */

/* The option table of a command, converted for getopt_long(). */
struct parser {
    const struct option_row *rows[MOST_OPTIONS + 1]; /* NULL at the end */
    size_t offsets[MOST_OPTIONS];                    /* of their groups' structs */
    struct option longs[MOST_OPTIONS + 1];
    char letters[2 * MOST_OPTIONS];
    size_t count, letter_count;
};

static void add_letter(struct parser *parser, char letter)
{
    parser->letters[parser->letter_count++] = letter;
}

static void add_row(struct parser *parser, const struct option_row *row, size_t offset)
{
    if (parser->count == MOST_OPTIONS)
        return;
    size_t i = parser->count++;
    int takes = !row->value ? no_argument : row->value[0] == '[' ? optional_argument : required_argument;
    parser->rows[i] = row;
    parser->offsets[i] = offset;
    parser->longs[i] = (struct option){row->name, takes, NULL, FIRST_CODE + (int)i};
    if (row->letter)
        add_letter(parser, row->letter);
    if (row->letter && row->value)
        add_letter(parser, ':');
}

static void fill_parser(struct parser *parser, const struct option_table *table)
{
    *parser = (struct parser){.count = 0};
    if (table->stops_at_word)
        add_letter(parser, '+');
    add_letter(parser, ':'); /* getopt_long() prints no messages */
    for (const struct option_group *group = table->groups; group->rows; group++)
        for (const struct option_row *row = group->rows; row->name; row++)
            add_row(parser, row, group->offset);
    add_row(parser, &help_row, 0);
}

static size_t find_row(const struct parser *parser, int code)
{
    size_t i = 0;
    if (code >= FIRST_CODE)
        return (size_t)(code - FIRST_CODE);
    while (i < parser->count && parser->rows[i]->letter != code)
        i++;
    return i;
}

bool options_parse(const struct option_table *table, void *options, int argc, char **argv, int *status)
{
    struct parser parser;
    fill_parser(&parser, table);
    *status = EXIT_SUCCESS;
    optind = 1;
    for (int code; (code = getopt_long(argc, argv, parser.letters, parser.longs, NULL)) != -1;) {
        size_t i = find_row(&parser, code);
        if (code == '?' || code == ':' || i >= parser.count) {
            *status = print_bad_option(table->command, parser.rows, code, argv);
            return false;
        }
        if (parser.rows[i] == &help_row) {
            options_print_help(table);
            return false;
        }
        const struct option_use use = {table->command, parser.rows[i], (char *)options + parser.offsets[i], optarg};
        *status = use.row->parse(&use);
        if (*status)
            return false;
    }
    return true;
}

bool options_append_remote(const struct option_table *table, int argc, char **argv, struct text_buffer *out)
{
    struct parser parser;
    bool ok = true;
    fill_parser(&parser, table);
    optind = 1;
    for (int code; ok && (code = getopt_long(argc, argv, parser.letters, parser.longs, NULL)) != -1;) {
        size_t i = find_row(&parser, code);
        const struct option_row *row = i < parser.count ? parser.rows[i] : NULL;
        if (row && !row->is_local)
            ok = text_append_all(out, " --", row->name, optarg ? "=" : "") && (!optarg || shell_quote(out, optarg));
    }
    return ok;
}

/* ---- help ---- */

/* "  -o, --output FILE". Returns the columns. */
static int format_label(const struct option_row *row, char label[LABEL_SIZE])
{
    const char letter[] = {'-', row->letter, ',', '\0'};
    const char *value = row->value ? row->value : "";
    const char *before = value[0] == '[' ? "[=" : value[0] ? " " : "";
    return snprintf(label, LABEL_SIZE, "  %3s --%s%s%s", row->letter ? letter : "", row->name, before,
                    value + (value[0] == '['));
}

/* Returns the width in columns of the longest label from `group` to the next title. */
static int count_label_columns(const struct option_group *group)
{
    char label[LABEL_SIZE];
    int most = 0;
    do
        for (const struct option_row *row = group->rows; row->name; row++) {
            int columns = format_label(row, label);
            most = columns > most ? columns : most;
        }
    while ((++group)->rows && !group->title);
    return most;
}

void options_print_help(const struct option_table *table)
{
    int columns = 0;
    ui_print("%s", table->usage);
    for (const struct option_group *group = table->groups; group->rows; group++) {
        if (group->title)
            ui_print("\n%s\n", group->title);
        if (group->title || group == table->groups) {
            ui_print("\n");
            columns = count_label_columns(group);
        }
        for (const struct option_row *row = group->rows; row->name; row++) {
            char label[LABEL_SIZE];
            format_label(row, label);
            ui_print("%-*s  ", columns, label);
            ui_print_wrapped(row->help, columns + 2, HELP_COLUMNS);
        }
    }
}
