#include "cmd/common/completion.h"

#include "cmd/common/commands.h"
#include "cmd/common/ui.h"

/* A kind of values and words, with its completion in each shell. */
struct kind {
    const char *part; /* of the placeholder of an option's value, such as FILE */
    const char *bash, *zsh, *fish;
};

enum { KIND_NONE, KIND_FILES, KIND_PROGRAMS, KIND_RECORDINGS };

static const struct kind kinds[] = {
    [KIND_NONE] = {NULL, "none", " ", ""},
    [KIND_FILES] = {"FILE", "files", "_files", ""},
    [KIND_PROGRAMS] = {NULL, "programs", "_command_names -e", "(__fish_complete_subcommand --fcs-skip=2)"},
    [KIND_RECORDINGS] = {NULL, "recordings", "_prof_recordings",
                         "(prof ctl list 2>/dev/null | string match -r \"^[0-9]+\")"},
    {"SPOOL", "files", "_files", ""},
    {"OUT", "files", "_files", ""},
    {"DIR", "directories", "_files -/", "(__fish_complete_directories)"},
    {"PID", "processes", "_pids", "(__fish_complete_pids)"},
    {"VARIABLE", "variables", "_parameters -g \"*export*\"", "(set --names --export)"},
    {"CGROUP", "cgroups", "_files -/ -W /sys/fs/cgroup", "(path basename /sys/fs/cgroup/*/)"},
};

static const struct kind *get_value_kind(const char *placeholder)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
        if (kinds[i].part && strstr(placeholder, kinds[i].part))
            return &kinds[i];
    return &kinds[KIND_NONE];
}

static const struct kind *get_word_kind(const struct option_table *table)
{
    return &kinds[table->words == WORDS_FILES        ? KIND_FILES
                  : table->words == WORDS_PROGRAMS   ? KIND_PROGRAMS
                  : table->words == WORDS_RECORDINGS ? KIND_RECORDINGS
                                                     : KIND_NONE];
}

static const char *get_text_or_empty(const char *text)
{
    return text ? text : "";
}

static void print_commands(void)
{
    for (const struct command *command = commands; command < commands_end; command++)
        ui_print("%s%s", command == commands ? "" : " ", command->name);
}

typedef void print_row(const char *command, const struct option_row *row);

static void print_rows(const struct command *command, print_row *print)
{
    for (const struct option_group *group = command->options->groups; group->rows; group++)
        for (const struct option_row *row = group->rows; row->name; row++)
            print(command->name, row);
}

/* ---- bash ---- */

/* The shell function _prof_complete offers the values of a kind, and a list of choices. */
static const char bash_head[] =
    "# Completion of prof's command line for bash, made by 'prof help --completion bash'.\n"
    "_prof_complete() {\n"
    "    mapfile -t COMPREPLY < <(\n"
    "        compgen -W \"$2\" -- \"$word\"\n"
    "        case $1 in\n"
    "        files) compgen -f -- \"$word\" ;;\n"
    "        directories) compgen -d -- \"$word\" ;;\n"
    "        processes) cd /proc && compgen -W \"$(echo [1-9]*)\" -- \"$word\" ;;\n"
    "        variables) compgen -e -- \"$word\" ;;\n"
    "        cgroups) cd /sys/fs/cgroup 2>/dev/null && compgen -d -- \"$word\" ;;\n"
    "        programs) compgen -c -f -- \"$word\" ;;\n"
    "        recordings) compgen -W \"$(prof ctl list 2>/dev/null | awk 'NR > 1 { print $1 }')\" -- \"$word\" ;;\n"
    "        esac\n"
    "    )\n"
    "}\n"
    "_prof() {\n"
    "    local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]}\n"
    "    case $COMP_CWORD:$command:$previous:$word in\n"
    "    1:*) _prof_complete none '";

static void print_bash_name(const char *command, const struct option_row *row)
{
    (void)command;
    ui_print("--%s ", row->name);
}

static void print_bash_value(const char *command, const struct option_row *row)
{
    if (!row->value || row->value[0] == '[')
        return;
    ui_print("    *:%s:--%s:*", command, row->name);
    if (row->letter)
        ui_print(" | *:%s:-%c:*", command, row->letter);
    ui_print(") _prof_complete %s '%s' ;;\n", get_value_kind(row->value)->bash, get_text_or_empty(row->choices));
}

static void print_bash(void)
{
    ui_print("%s", bash_head);
    print_commands();
    ui_print(" --version --licenses --help' ;;\n    2:help:*) _prof_complete none '");
    print_commands();
    ui_print(" --completion --help' ;;\n    *:ctl:mark:*) ;;\n");
    for (const struct command *command = commands; command < commands_end; command++) {
        const struct option_table *table = command->options;
        print_rows(command, print_bash_value);
        ui_print("    *:%s:*:-*) _prof_complete none '", command->name);
        print_rows(command, print_bash_name);
        ui_print("--help' ;;\n");
        if (table->first_choice)
            ui_print("    2:%s:*) _prof_complete none '%s' ;;\n", command->name, table->first_choice);
        if (table->words != WORDS_NONE)
            ui_print("    *:%s:*) _prof_complete %s '' ;;\n", command->name, get_word_kind(table)->bash);
    }
    ui_print("    esac\n}\ncomplete -o filenames -F _prof prof\n");
}

/* ---- zsh and fish ---- */

/* Prints the first phrase of the help in single quotes, with backslashes before `special` characters. */
static void print_phrase(const char *text, const char *special)
{
    for (size_t i = 0, length = strcspn(text, ";\n"); i < length; i++)
        ui_print("%s%c", text[i] == '\'' ? "'\\'" : strchr(special, text[i]) ? "\\" : "", text[i]);
}

static void print_zsh_option(const struct option_row *row, const char *option, const char *value_mark)
{
    const char *value = row->value;
    bool is_optional = value && value[0] == '[';
    ui_print("        '*%s%s[", option, !value ? "" : is_optional ? "=-" : value_mark);
    print_phrase(row->help, "[]\\");
    ui_print("]");
    if (value)
        ui_print("%s", is_optional ? "::" : ":");
    for (const char *at = value ? value : ""; *at; at++)
        if (!strchr("[].,", *at))
            ui_print("%s%c", *at == ':' ? "\\" : "", *at);
    if (value && row->choices && get_value_kind(value) == &kinds[KIND_NONE]) {
        ui_print(":(");
        for (const char *at = row->choices; *at; at++)
            ui_print("%s%c", *at == ':' ? "\\" : "", *at);
        ui_print(")");
    } else if (value)
        ui_print(":%s", get_value_kind(value)->zsh);
    ui_print("' \\\n");
}

static void print_zsh_row(const char *command, const struct option_row *row)
{
    char option[64];
    (void)command;
    snprintf(option, sizeof(option), "--%s", row->name);
    print_zsh_option(row, option, "=");
    snprintf(option, sizeof(option), "-%c", row->letter);
    if (row->letter)
        print_zsh_option(row, option, "+");
}

static void print_zsh(void)
{
    ui_print("#compdef prof\n"
             "# Completion of prof's command line for zsh, made by 'prof help --completion zsh'.\n"
             "_prof_recordings() {\n"
             "    compadd -- ${(f)\"$(prof ctl list 2>/dev/null | awk 'NR > 1 { print $1 }')\"}\n"
             "}\n"
             "local -a commands=(\n");
    for (const struct command *command = commands; command < commands_end; command++) {
        ui_print("    '%s:", command->name);
        print_phrase(command->summary, ":\\");
        ui_print("'\n");
    }
    ui_print(")\n"
             "if ((CURRENT == 2)); then\n"
             "    _describe command commands\n"
             "    compadd -- --version --licenses --help\n"
             "    return\n"
             "fi\n"
             "shift words\n"
             "((CURRENT--))\n"
             "case $words[1] in\n");
    for (const struct command *command = commands; command < commands_end; command++) {
        const struct option_table *table = command->options;
        ui_print("%s)\n    _arguments -s \\\n", command->name);
        print_rows(command, print_zsh_row);
        ui_print("        '--help[show the help of the command]' \\\n");
        if (command->run == cmd_help)
            ui_print(
                "        '1:command:->commands'\n    [[ $state == commands ]] && _describe command commands\n    ;;\n");
        else if (table->stops_at_word)
            ui_print("        '*::command:_normal'\n    ;;\n");
        else if (table->first_choice)
            ui_print("        '1:request:(%s)' '*:recording:_prof_recordings'\n    ;;\n", table->first_choice);
        else
            ui_print("        '*:word:%s'\n    ;;\n", get_word_kind(table)->zsh);
    }
    ui_print("esac\n");
}

static void print_fish_row(const char *command, const struct option_row *row)
{
    const struct kind *kind = get_value_kind(row->value ? row->value : "");
    ui_print("complete -c prof -n '__fish_seen_subcommand_from %s' -l %s", command, row->name);
    if (row->letter)
        ui_print(" -s %c", row->letter);
    if (row->value && !strcmp(kind->bash, "files"))
        ui_print(" -r -F");
    else if (row->value && row->value[0] == '[')
        ui_print(" -f -a '%s'", get_text_or_empty(row->choices));
    else if (row->value)
        ui_print(" -x -a '%s %s'", get_text_or_empty(row->choices), kind->fish);
    ui_print(" -d '");
    print_phrase(row->help, "\\");
    ui_print("'\n");
}

static void print_fish(void)
{
    ui_print("# Completion of prof's command line for fish, made by 'prof help --completion fish'.\n"
             "complete -c prof -f\n");
    for (const struct command *command = commands; command < commands_end; command++) {
        const struct option_table *table = command->options;
        ui_print("complete -c prof -n __fish_use_subcommand -a %s -d '", command->name);
        print_phrase(command->summary, "\\");
        ui_print("'\ncomplete -c prof -n '__fish_seen_subcommand_from %s' -l help -d 'show the help'\n", command->name);
        print_rows(command, print_fish_row);
        if (table->words == WORDS_FILES)
            ui_print("complete -c prof -n '__fish_seen_subcommand_from %s' -F\n", command->name);
        else if (table->words != WORDS_NONE)
            ui_print("complete -c prof -n '__fish_seen_subcommand_from %s' -a '%s %s'\n", command->name,
                     get_text_or_empty(table->first_choice), get_word_kind(table)->fish);
    }
    ui_print("complete -c prof -n '__fish_seen_subcommand_from help' -a '");
    print_commands();
    ui_print("'\n");
}

bool completion_print(const char *shell)
{
    static const struct {
        const char *name;
        void (*print)(void);
    } shells[] = {{"bash", print_bash}, {"zsh", print_zsh}, {"fish", print_fish}};
    for (size_t i = 0; i < sizeof(shells) / sizeof(*shells); i++)
        if (strcmp(shells[i].name, shell) == 0) {
            shells[i].print();
            return true;
        }
    return false;
}
