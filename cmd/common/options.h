/*
 * The options of all commands. The table of a command is the only source of its command line, its help, its completion
 * in shells, and the guess at a mistyped option. tests/e2e/test_command_line compares the manual pages with the tables.
 */
#pragma once

#include "base/text_buffer.h"

struct option_row;

/* The values of an option that can be given several times. */
ARRAY_TYPE(struct option_texts, const char *);

/* An option on the command line. */
struct option_use {
    const char *command; /* name of the command, for messages */
    const struct option_row *row;
    void *group; /* the struct that receives the values of the group's options */
    char *value; /* NULL if none */
};

struct option_row {
    const char *name;  /* "output"; NULL ends the rows */
    char letter;       /* 'o', or 0 for none */
    const char *value; /* placeholder of the value, "FILE"; "[WHEN]": an optional value, or NULL for none */
    const char *help;  /* a phrase for the help, in which a newline starts a new line */
    int (*parse)(const struct option_use *use); /* returns 0, or the exit status after a message */
    size_t field;        /* offset of the option's value in the group's struct, for the parsers below */
    int data;            /* for `parse` */
    const char *choices; /* values for completion, separated by spaces, or NULL (`value` names the kind, such as
                          * FILE) */
    bool is_local;       /* options_append_remote() leaves it out */
};

struct option_group {
    const struct option_row *rows;
    size_t offset;     /* offset of the group's struct in the command's struct; a group without rows ends the array */
    const char *title; /* sentence above the rows in the help, or NULL (the rows follow the previous ones) */
};

enum option_words { WORDS_NONE, WORDS_FILES, WORDS_PROGRAMS, WORDS_RECORDINGS };

struct option_table {
    const char *command;
    const char *usage; /* head of the help: the usage and a description */
    const struct option_group *groups;
    enum option_words words;  /* completion of words that are no options */
    const char *first_choice; /* choices of the first word */
    bool stops_at_word;       /* the first word starts another command line with its own options: parsing stops there */
};

/*
 * Parsers that set row->field.
 *
 * option_set_flag()    bool
 * option_set_value()   an enum, to row->data
 * option_set_choice()  an enum, to row->data plus the index of the value in row->choices
 * option_set_number()  uint32_t from 1 to row->data
 * option_set_size()    uint64_t, in bytes
 * option_set_time()    uint64_t, in ns
 * option_set_text()    const char *
 * option_set_name()    const char *, not empty
 * option_add_text()    struct option_texts, not empty
 */
int option_set_flag(const struct option_use *use);
int option_set_value(const struct option_use *use);
int option_set_choice(const struct option_use *use);
int option_set_number(const struct option_use *use);
int option_set_size(const struct option_use *use);
int option_set_time(const struct option_use *use);
int option_set_text(const struct option_use *use);
int option_set_name(const struct option_use *use);
int option_add_text(const struct option_use *use);

#define OPTION(parser, type, member)     .parse = (parser), .field = offsetof(type, member)
#define OPTION_FLAG(type, member)        OPTION(option_set_flag, type, member)
#define OPTION_VALUE(type, member, enum) OPTION(option_set_value, type, member), .data = (enum)
#define OPTION_NUMBER(type, member, max) OPTION(option_set_number, type, member), .data = (max)
#define OPTION_TEXT(type, member)        OPTION(option_set_text, type, member)
#define OPTION_NAME(type, member)        OPTION(option_set_name, type, member)

/* Parses the options of a command into its struct; optind is then the index of the first other word. Returns true if
 * the command continues; otherwise *status is its exit status, after a message or the help. */
bool options_parse(const struct option_table *table, void *options, int argc, char **argv, int *status);

/* Appends the parsed options that are not local, as words for a shell, each after a space. False if memory ran out. */
bool options_append_remote(const struct option_table *table, int argc, char **argv, struct text_buffer *out);

/* Prints the help of a command. */
void options_print_help(const struct option_table *table);
