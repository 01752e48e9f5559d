#include "import/perf_script_line.h"

#include "base/ascii.h"

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static struct builder_text trim(struct builder_text text)
{
    while (text.length && is_space(text.text[text.length - 1]))
        text.length--;
    while (text.length && is_space(text.text[0])) {
        text.text++;
        text.length--;
    }
    return text;
}

static struct builder_text next_word(struct builder_text *rest)
{
    *rest = trim(*rest);
    struct builder_text word = {rest->text, 0};
    while (word.length < rest->length && !is_space(rest->text[word.length]))
        word.length++;
    rest->text += word.length;
    rest->length -= word.length;
    return word;
}

static bool ends_with(struct builder_text text, char c)
{
    return text.length > 1 && text.text[text.length - 1] == c;
}

/* Removes a number from the start of the text. Returns false without digits, or with too many digits. */
static bool parse_number(struct builder_text *text, uint64_t *number)
{
    size_t digits = 0;
    *number = 0;
    for (; digits < text->length && is_digit(text->text[digits]); digits++)
        *number = *number * 10 + (uint64_t)(text->text[digits] - '0');
    text->text += digits;
    text->length -= digits;
    return digits > 0 && digits < 19;
}

/* Parses a time such as "1234.567890:", in ms. */
static bool parse_time(struct builder_text word, double *ms)
{
    char text[32];
    if (word.length < 4 || word.length >= sizeof(text) || !ends_with(word, ':') || !memchr(word.text, '.', word.length))
        return false;
    for (size_t i = 0; i + 1 < word.length; i++)
        if (!is_digit(word.text[i]) && word.text[i] != '.')
            return false;
    memcpy(text, word.text, word.length - 1);
    text[word.length - 1] = '\0';
    char *end;
    *ms = strtod(text, &end) * 1000;
    return *end == '\0' && isfinite(*ms);
}

/* Parses "1234" or "-1". */
static bool parse_id(struct builder_text *word, uint64_t *id)
{
    if (word->length < 2 || word->text[0] != '-')
        return parse_number(word, id);
    word->text++;
    word->length--;
    bool is_minus_one = parse_number(word, id) && *id == 1;
    *id = UINT32_MAX;
    return is_minus_one;
}

/* Parses "1234" or "1230/1234". */
static bool parse_ids(struct builder_text word, struct perf_script_header *header)
{
    uint64_t pid, tid;
    if (!parse_id(&word, &pid))
        return false;
    tid = pid;
    if (word.length && word.text[0] == '/') {
        word.text++;
        word.length--;
        if (!parse_id(&word, &tid))
            return false;
    }
    if (word.length)
        return false;
    header->pid = pid;
    header->tid = tid;
    return true;
}

static bool is_cpu(struct builder_text word)
{
    if (!ends_with(word, ']') || word.text[0] != '[')
        return false;
    for (size_t i = 1; i + 1 < word.length; i++)
        if (!is_digit(word.text[i]))
            return false;
    return word.length > 2;
}

/* Removes event modifiers: "cpu-clock:ppp:" becomes "cpu-clock:", "sched:sched_switch:" stays. */
static struct builder_text trim_event_name(struct builder_text word)
{
    if (word.length && word.text[word.length - 1] == ':')
        word.length--;
    size_t at = word.length;
    while (at && word.text[at - 1] != ':')
        at--;
    bool are_modifiers = at > 0 && at < word.length;
    for (size_t i = at; i < word.length; i++)
        are_modifiers = are_modifiers && strchr("ukhGHpPSDWIeb", word.text[i]) && word.text[i];
    if (are_modifiers)
        word.length = at - 1;
    return word;
}

static bool is_record(struct builder_text text)
{
    return text.length > 12 && memcmp(text.text, "PERF_RECORD_", 12) == 0;
}

/* Parses "period event: rest"; each part may be missing. */
static void parse_event(struct builder_text rest, struct perf_script_header *header)
{
    struct builder_text before = trim(rest), word = next_word(&rest), digits = word;
    uint64_t period;
    header->rest = before;
    if (word.length && parse_number(&digits, &period) && digits.length == 0) {
        struct builder_text after = trim(rest);
        struct builder_text next = next_word(&rest);
        if (next.length && !ends_with(next, ':'))
            return; /* the address of a frame */
        header->period = (double)period;
        header->rest = after;
        word = next;
    }
    if (ends_with(word, ':')) {
        header->event = trim_event_name(word);
        header->rest = trim(rest);
    }
}

/* Parses the part before the time or event: "comm pid/tid [cpu] misc". */
static bool parse_thread(struct builder_text text, struct perf_script_header *header)
{
    struct builder_text rest = text, last[3] = {{"", 0}, {"", 0}, {"", 0}};
    for (struct builder_text word; (word = next_word(&rest)).length;) {
        last[2] = last[1];
        last[1] = last[0];
        last[0] = word;
    }
    size_t at = 0;
    if (!is_cpu(last[0]) && is_cpu(last[1]))
        at = 1; /* behind it: misc */
    bool has_cpu = is_cpu(last[at]);
    struct builder_text ids = last[at + has_cpu];
    bool has_ids = ids.length && parse_ids(ids, header);
    const char *end = has_ids ? ids.text : has_cpu ? last[at].text : text.text + text.length;
    header->comm = trim((struct builder_text){text.text, (size_t)(end - text.text)});
    return has_ids || has_cpu;
}

/* Parses a line without a time. The thread ends before the tid, the CPU, the period and the event, whose name ends with
 * a colon. */
static bool parse_without_time(struct builder_text line, struct perf_script_header *header)
{
    struct builder_text rest = line;
    for (struct builder_text word; (word = next_word(&rest)).length;) {
        struct perf_script_header found = *header;
        if (!parse_ids(word, &found) && !is_cpu(word))
            continue;
        struct builder_text behind = rest, next = next_word(&behind);
        if (is_cpu(next))
            rest = behind;
        else
            behind = rest;
        parse_event(rest, &found);
        if (!found.event.length || is_digit(found.event.text[0]))
            continue;
        struct builder_text thread = {line.text, (size_t)(rest.text - line.text)};
        *header = found;
        return parse_thread(thread, header);
    }
    return false;
}

static bool parse_header(struct builder_text line, struct perf_script_header *header, bool *is_other_record)
{
    struct builder_text rest = line;
    for (struct builder_text word; (word = next_word(&rest)).length;) {
        if (is_record(word)) {
            *is_other_record = true;
            return true;
        }
        if (!parse_time(word, &header->time))
            continue;
        struct builder_text thread = {line.text, (size_t)(word.text - line.text)};
        rest = trim(rest);
        *is_other_record = is_record(rest);
        parse_event(rest, header);
        parse_thread(thread, header);
        return true;
    }
    header->time = NAN;
    return parse_without_time(line, header);
}

enum perf_script_line perf_script_parse_line(struct builder_text line, struct perf_script_header *out)
{
    struct perf_script_frame frame;
    bool is_other_record = false;
    *out = (struct perf_script_header){.comm = {"", 0}, .event = {"", 0}, .rest = {"", 0}, .time = NAN, .period = NAN};
    if (!trim(line).length || line.text[0] == '#')
        return PERF_SCRIPT_EMPTY;
    if (line.text[0] != '\t' && parse_header(line, out, &is_other_record))
        return is_other_record ? PERF_SCRIPT_RECORD : PERF_SCRIPT_SAMPLE;
    return is_space(line.text[0]) && perf_script_parse_frame(line, &frame) ? PERF_SCRIPT_FRAME : PERF_SCRIPT_OTHER;
}

bool perf_script_parse_bare_header(struct builder_text line, struct perf_script_header *out)
{
    struct builder_text rest = line, last = {"", 0};
    for (struct builder_text word; (word = next_word(&rest)).length;)
        last = word;
    bool has_event = ends_with(last, ':') && !is_record(last);
    if (!last.length || line.text[0] == '\t' || (is_space(line.text[0]) && !has_event))
        return false;
    if (has_event) {
        out->event = trim_event_name(last);
        line.length = (size_t)(last.text - line.text);
    }
    parse_thread(line, out);
    return true;
}

/* ---- frames ---- */

/* Returns the position of " (library)", whose name may contain spaces and parentheses. Returns the length of the text
 * if the library is missing. */
static size_t find_library(struct builder_text text)
{
    if (!text.length || text.text[text.length - 1] != ')')
        return text.length;
    size_t last = text.length;
    for (size_t i = text.length - 1; i-- > 0;) {
        if (text.text[i] != ' ' || text.text[i + 1] != '(')
            continue;
        if (last == text.length)
            last = i;
        if (i + 2 < text.length && (text.text[i + 2] == '/' || text.text[i + 2] == '['))
            return i;
    }
    return last;
}

/* Removes "+0x1f" from the end of a name. */
static struct builder_text trim_offset(struct builder_text name)
{
    for (size_t i = name.length; i-- > 1;)
        if (name.text[i] == '+' && i + 2 < name.length && name.text[i + 1] == '0' && name.text[i + 2] == 'x') {
            name.length = i;
            break;
        }
    return name;
}

bool perf_script_parse_frame(struct builder_text text, struct perf_script_frame *out)
{
    struct builder_text rest = trim(text), word = next_word(&rest);
    char digits[20];
    if (word.length == 0 || word.length > 16)
        return false;
    memcpy(digits, word.text, word.length);
    digits[word.length] = '\0';
    char *end;
    *out = (struct perf_script_frame){.symbol = {"", 0}, .library = {"", 0}};
    out->address = strtoull(digits, &end, 16);
    if (*end || strchr("-+xX", digits[0]) || (word.length > 1 && strchr("xX", digits[1])))
        return false;
    rest = trim(rest);
    size_t at = find_library(rest);
    if (at < rest.length)
        out->library = (struct builder_text){rest.text + at + 2, rest.length - at - 3};
    out->symbol = trim_offset(trim((struct builder_text){rest.text, at}));
    return true;
}
