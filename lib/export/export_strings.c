#include "export/export_strings.h"

#include "base/text_buffer.h"
#include "base/utf8.h"

bool export_strings_init(struct export_strings *strings, const struct profile *profile)
{
    size_t count = profile->strings.entries.length;
    *strings = (struct export_strings){.profile = profile};
    strings->of_profile = malloc((count + 1) * sizeof(*strings->of_profile));
    if (strings->of_profile)
        memset(strings->of_profile, 0xff, (count + 1) * sizeof(*strings->of_profile)); /* PROFILE_NONE */
    return strings->of_profile && export_add_string(strings, "") == 0 && !strings->failed;
}

void export_strings_destroy(struct export_strings *strings)
{
    strings_destroy(&strings->table);
    free(strings->of_profile);
    *strings = (struct export_strings){0};
}

/* Returns 0, the index of "", if memory ran out. */
static uint32_t add_text(struct export_strings *strings, const char *text, size_t length)
{
    uint32_t index = strings_add(&strings->table, text, length);
    if (index != STRING_NONE)
        return index;
    strings->failed = true;
    return 0;
}

static uint32_t add_invalid_utf8(struct export_strings *strings, const char *text, const char *end)
{
    struct text_buffer repaired = {0};
    bool enough = true;
    while (enough && text < end) {
        size_t length = utf8_measure_character(text, end);
        enough = length ? text_append(&repaired, text, length) : text_append_z(&repaired, UTF8_REPLACEMENT);
        text += length ? length : 1;
    }
    strings->failed |= !enough;
    uint32_t index = enough ? add_text(strings, repaired.data, repaired.length) : 0;
    array_free(&repaired);
    return index;
}

uint32_t export_add_text(struct export_strings *strings, const char *text, size_t length_of_text)
{
    const char *end = text + length_of_text, *at = text;
    for (size_t length; at < end && (length = utf8_measure_character(at, end)) > 0;)
        at += length;
    return at == end ? add_text(strings, text, (size_t)(end - text)) : add_invalid_utf8(strings, text, end);
}

uint32_t export_add_string(struct export_strings *strings, const char *text)
{
    return export_add_text(strings, text, strlen(text));
}

uint32_t export_add_profile_string(struct export_strings *strings, uint32_t string)
{
    if (string >= strings->profile->strings.entries.length)
        return 0;
    if (strings->of_profile[string] == PROFILE_NONE)
        strings->of_profile[string] = export_add_string(strings, strings_text(&strings->profile->strings, string));
    return strings->of_profile[string];
}
