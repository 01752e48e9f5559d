/* Tests of words for a shell, which the shells of this machine read. */
#include "base/shell_quote.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

/* Runs `printf %s WORD` in a shell, and compares the output with the text. */
static void check_word(const char *shell, const char *text)
{
    struct text_buffer command = {0};
    char line[2048], output[1024];
    assert_true(text_append_z(&command, "printf %s ") && shell_quote(&command, text) && text_append(&command, "", 1));
    assert_int_equal(setenv("COMMAND", command.data, 1), 0);
    snprintf(line, sizeof(line), "%s -c \"$COMMAND\"", shell);
    FILE *pipe = popen(line, "r");
    assert_non_null(pipe);
    size_t length = fread(output, 1, sizeof(output) - 1, pipe);
    output[length] = '\0';
    assert_int_equal(pclose(pipe), 0);
    assert_string_equal(output, text);
    array_free(&command);
}

static void test_a_shell_reads_each_text_as_one_word(void **state)
{
    (void)state;
    static const char *const shells[] = {"sh", "bash"};
    static const char *const texts[] = {"",           "plain",
                                        "two words",  " ",
                                        "it's",       "'",
                                        "''quoted''", "$HOME",
                                        "`id`",       "$(id)",
                                        "a\\",        "\\'",
                                        "\"",         "new\nline",
                                        "\n",         "*",
                                        "~",          "-n",
                                        "!history",   ";",
                                        "a&b|c>d<e",  "#comment",
                                        "\ttab",      "\x01\x1b[0m",
                                        "{a,b}",      "gr\xc3\xbc\xc3\x9f",
                                        "%s",         "=x"};
    for (size_t shell = 0; shell < sizeof(shells) / sizeof(*shells); shell++)
        for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
            check_word(shells[shell], texts[i]);
}

static void test_words_follow_each_other(void **state)
{
    (void)state;
    struct text_buffer words = {0};
    assert_true(text_append_z(&words, "--thread=") && shell_quote(&words, "a'b") && text_append(&words, "", 1));
    assert_string_equal(words.data, "--thread='a'\\''b'");
    array_free(&words);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_shell_reads_each_text_as_one_word),
        cmocka_unit_test(test_words_follow_each_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
