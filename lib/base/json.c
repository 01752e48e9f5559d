/*
 * The reader reads a whole token in the piece in place. `raw` collects the bytes of a token that is split between
 * pieces, and the reader reads the complete token from `raw`: finish_*() always get a whole token.
 */
#include "base/json.h"

#include "base/ascii.h"
#include "base/json_number.h"
#include "base/utf8.h"

void json_init(struct json *json)
{
    *json = (struct json){.expect = EXPECT_VALUE};
}

void json_destroy(struct json *json)
{
    array_free(&json->raw);
    array_free(&json->decoded);
}

uint64_t json_count_read_bytes(const struct json *json)
{
    return json->piece_offset + (uint64_t)(json->at - json->piece);
}

void json_feed(struct json *json, const char *bytes, size_t size)
{
    json->piece_offset = json_count_read_bytes(json);
    json->piece = json->at = bytes;
    json->end = size ? bytes + size : bytes; /* NULL + 0 is undefined */
}

void json_end_input(struct json *json)
{
    json->ended = true;
}

void json_init_whole(struct json *json, const char *text, size_t length)
{
    json_init(json);
    json_feed(json, text, length);
    json_end_input(json);
}

static enum json_type fail_at(struct json *json, const char *problem, uint64_t offset)
{
    if (!json->problem) {
        json->problem = problem;
        json->offset = offset;
    }
    return JSON_FAILED;
}

static enum json_type fail_here(struct json *json, const char *problem)
{
    return fail_at(json, problem, json_count_read_bytes(json));
}

static void expect_after_value(struct json *json)
{
    json->expect = json->depth ? EXPECT_COMMA : EXPECT_END;
}

static enum json_type open_level(struct json *json, bool object)
{
    if (json->depth == JSON_MAX_DEPTH)
        return fail_here(json, "arrays and objects are nested too deeply");
    unsigned level = json->depth++;
    unsigned char bit = (unsigned char)(1u << level % 8);
    json->nesting[level / 8] =
        (unsigned char)(object ? json->nesting[level / 8] | bit : json->nesting[level / 8] & ~bit);
    json->expect = object ? EXPECT_KEY_OR_CLOSE : EXPECT_VALUE_OR_CLOSE;
    json->at++;
    return object ? JSON_OBJECT_OPEN : JSON_ARRAY_OPEN;
}

static enum json_type close_level(struct json *json, bool object)
{
    json->depth--;
    json->at++;
    expect_after_value(json);
    return object ? JSON_OBJECT_CLOSE : JSON_ARRAY_CLOSE;
}

/* ---- strings ---- */

/* Returns how many of the eight bytes at `at`, counted from the first, are printable ASCII without quote and backslash.
 * The sums and differences set the top bit of a byte below 0x20, or equal to the character (it is zero after the
 * exclusive or). A borrow sets wrong top bits only after a correct top bit. */
static inline unsigned count_plain_bytes(const char *at)
{
    const uint64_t ones = UINT64_C(0x0101010101010101), tops = ones << 7;
    uint64_t bytes = json_get_eight_bytes(at), quote = bytes ^ ones * '"', backslash = bytes ^ ones * '\\';
    uint64_t others = (bytes | (bytes - ones * 0x20) | (quote - ones) | (backslash - ones)) & tops;
    return others ? (unsigned)__builtin_ctzll(others) / 8 : 8;
}

/* Moves to the closing quote, or false at the end of the piece or at a control character. */
static bool skip_to_quote(struct json *json)
{
    const char *at = json->at, *end = json->end;
    bool found = false;
    for (;;) {
        while (!json->escaped && end - at >= 8) {
            unsigned plain = count_plain_bytes(at);
            at += plain;
            if (plain < 8)
                break;
        }
        if (at == end)
            break;
        unsigned char c = (unsigned char)*at;
        if (c < 0x20)
            break;
        if (c >= 0x80)
            json->special = true;
        if (json->escaped) {
            json->escaped = false;
        } else if (c == '\\') {
            json->escaped = json->special = true;
        } else if (c == '"') {
            found = true;
            break;
        }
        at++;
    }
    json->at = at;
    return found;
}

/* Returns the value of the four hex digits at `at`, or -1. */
static int32_t decode_four_hex_digits(const char *at, const char *end)
{
    if (end - at < 4)
        return -1;
    int32_t code = 0;
    for (int i = 0; i < 4; i++) {
        int digit = parse_hex_digit(at[i]);
        if (digit < 0)
            return -1;
        code = code << 4 | digit;
    }
    return code;
}

/* Decodes the escape after the backslash at `*at`, writes it at `out` and moves `*at` past it. Returns the number of
 * bytes written, or 0 for an invalid escape. Half of a surrogate pair becomes U+FFFD. */
static size_t decode_escape(const char **at, const char *end, char *out)
{
    static const char names[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
    char name = (*at)[1];
    const char *simple = name ? strchr(names, name) : NULL;
    if (simple) {
        *at += 2;
        *out = meanings[simple - names];
        return 1;
    }
    int32_t code = name == 'u' ? decode_four_hex_digits(*at + 2, end) : -1;
    if (code < 0)
        return 0;
    *at += 6;
    if (code >= 0xd800 && code < 0xdc00 && end - *at >= 6 && (*at)[0] == '\\' && (*at)[1] == 'u') {
        int32_t low = decode_four_hex_digits(*at + 2, end);
        if (low >= 0xdc00 && low < 0xe000) {
            *at += 6;
            return utf8_put(out, 0x10000 + ((uint32_t)(code - 0xd800) << 10) + (uint32_t)(low - 0xdc00));
        }
    }
    return utf8_put(out, code >= 0xd800 && code < 0xe000 ? 0xfffd : (uint32_t)code);
}

/* Decodes escapes and replaces invalid UTF-8, or false for an invalid escape, or if memory ran out. */
static bool decode_string(struct json *json, const char *at, size_t length)
{
    enum { MOST_GROWTH = 3 }; /* one wrong byte becomes the three bytes of U+FFFD */
    const char *end = at + length;
    json->decoded.length = 0;
    if (length > SIZE_MAX / MOST_GROWTH || !array_reserve(&json->decoded, length * MOST_GROWTH + 1)) {
        fail_at(json, "out of memory", json->offset);
        return false;
    }
    char *out = json->decoded.data;
    while (at < end) {
        if (*at == '\\') {
            size_t size = decode_escape(&at, end, out);
            if (size == 0) {
                fail_at(json, "a string has an unknown escape sequence", json->offset);
                return false;
            }
            out += size;
            continue;
        }
        size_t size = utf8_measure_character(at, end);
        memcpy(out, size ? at : UTF8_REPLACEMENT, size ? size : 3);
        out += size ? size : 3;
        at += size ? size : 1;
    }
    json->text = json->decoded.data;
    json->length = (size_t)(out - json->decoded.data);
    return true;
}

static enum json_type finish_string(struct json *json, const char *text, size_t length)
{
    json->text = text;
    json->length = length;
    if (json->special && !decode_string(json, text, length))
        return JSON_FAILED;
    if (json->expect == EXPECT_KEY || json->expect == EXPECT_KEY_OR_CLOSE) {
        json->expect = EXPECT_COLON;
        return JSON_KEY;
    }
    expect_after_value(json);
    return JSON_STRING;
}

/* ---- numbers, true, false, null ---- */

static const char *skip_digits(const char *at, const char *end)
{
    while (at < end && is_digit(*at))
        at++;
    return at;
}

static bool is_number(const char *at, const char *end)
{
    if (at < end && *at == '-')
        at++;
    const char *digits = at;
    at = skip_digits(at, end);
    if (at == digits || (*digits == '0' && at - digits > 1))
        return false;
    if (at < end && *at == '.') {
        digits = ++at;
        at = skip_digits(at, end);
        if (at == digits)
            return false;
    }
    if (at < end && (*at == 'e' || *at == 'E')) {
        at++;
        if (at < end && (*at == '+' || *at == '-'))
            at++;
        digits = at;
        at = skip_digits(at, end);
        if (at == digits)
            return false;
    }
    return at == end;
}

static enum json_type finish_number(struct json *json, const char *text, size_t length)
{
    if (!is_number(text, text + length))
        return fail_at(json, "a malformed number", json->offset);
    json->text = text;
    json->length = length;
    json->number = number_parse(text, length);
    expect_after_value(json);
    return JSON_NUMBER;
}

static enum json_type finish_word(struct json *json, const char *text, size_t length)
{
    enum json_type type = length == 4 && memcmp(text, "null", 4) == 0    ? JSON_NULL
                          : length == 4 && memcmp(text, "true", 4) == 0  ? JSON_TRUE
                          : length == 5 && memcmp(text, "false", 5) == 0 ? JSON_FALSE
                                                                         : JSON_FAILED;
    if (type == JSON_FAILED)
        return fail_at(json, "an unknown word instead of true, false or null", json->offset);
    json->text = text;
    json->length = length;
    expect_after_value(json);
    return type;
}

static bool is_number_byte(char c)
{
    return is_digit(c) || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E';
}

static bool is_word_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* ---- tokens that may be split ---- */

/* Moves to the end of the unfinished token. Returns false if the piece ended first. */
static bool find_token_end(struct json *json)
{
    if (json->unfinished == UNFINISHED_STRING)
        return skip_to_quote(json);
    bool (*belongs)(char) = json->unfinished == UNFINISHED_NUMBER ? is_number_byte : is_word_byte;
    while (json->at < json->end && belongs(*json->at))
        json->at++;
    return json->at < json->end || json->ended;
}

static enum json_type finish_token(struct json *json, const char *text, size_t length)
{
    unsigned char kind = json->unfinished;
    json->unfinished = UNFINISHED_NONE;
    if (kind == UNFINISHED_STRING) {
        json->at++; /* the quote */
        return finish_string(json, text, length);
    }
    return kind == UNFINISHED_NUMBER ? finish_number(json, text, length) : finish_word(json, text, length);
}

static enum json_type continue_token(struct json *json)
{
    const char *from = json->at;
    bool whole = find_token_end(json);
    bool cut = !whole && json->at == json->end;
    if (!whole && !cut)
        return fail_here(json, "a control character inside a string");
    if (whole && json->raw.length == 0)
        return finish_token(json, from, (size_t)(json->at - from));
    if ((size_t)(json->at - from) > JSON_MAX_SPLIT_TOKEN - json->raw.length)
        return fail_here(json, "a text or number of more than 64 MiB");
    if (!array_append(&json->raw, from, (size_t)(json->at - from)))
        return fail_here(json, "out of memory");
    if (whole)
        return finish_token(json, json->raw.data, json->raw.length);
    return json->ended ? fail_here(json, "the text ends inside a string") : JSON_MORE;
}

static enum json_type begin_token(struct json *json, enum json_unfinished kind)
{
    json->unfinished = (unsigned char)kind;
    json->raw.length = 0;
    json->escaped = json->special = false;
    if (kind == UNFINISHED_STRING)
        json->at++;
    return continue_token(json);
}

/* ---- the grammar ---- */

static enum json_type begin_value(struct json *json, char c)
{
    if (c == '"')
        return begin_token(json, UNFINISHED_STRING);
    if (c == '{' || c == '[')
        return open_level(json, c == '{');
    bool may_close = json->expect == EXPECT_VALUE_OR_CLOSE || (json->allows_last_comma && json->depth);
    if (c == ']' && may_close && !json_is_in_object(json))
        return close_level(json, false);
    if (is_digit(c) || c == '-')
        return begin_token(json, UNFINISHED_NUMBER);
    if (is_word_byte(c))
        return begin_token(json, UNFINISHED_WORD);
    return fail_here(json, "a value was expected");
}

static enum json_type begin_key(struct json *json, char c)
{
    if (c == '"')
        return begin_token(json, UNFINISHED_STRING);
    if (c == '}' && (json->expect == EXPECT_KEY_OR_CLOSE || json->allows_last_comma))
        return close_level(json, true);
    return fail_here(json, "a key in quotes was expected");
}

static enum json_type handle_end_of_bytes(struct json *json)
{
    if (!json->ended)
        return JSON_MORE;
    return json->expect == EXPECT_END ? JSON_END : fail_here(json, "the text ends early");
}

enum json_type json_next(struct json *json)
{
    if (json->problem)
        return JSON_FAILED;
    if (json->unfinished)
        return continue_token(json);
    for (;;) {
        while (json->at < json->end && json_is_space(*json->at))
            json->at++;
        json->offset = json_count_read_bytes(json);
        if (json->at == json->end)
            return handle_end_of_bytes(json);
        char c = *json->at;
        switch (json->expect) {
        case EXPECT_VALUE:
        case EXPECT_VALUE_OR_CLOSE:
            return begin_value(json, c);
        case EXPECT_KEY:
        case EXPECT_KEY_OR_CLOSE:
            return begin_key(json, c);
        case EXPECT_COLON:
            if (c != ':')
                return fail_here(json, "a colon was expected");
            json->expect = EXPECT_VALUE;
            break;
        case EXPECT_COMMA:
            if (c == (json_is_in_object(json) ? '}' : ']'))
                return close_level(json, c == '}');
            if (c != ',')
                return fail_here(json, "a comma or a closing bracket was expected");
            json->expect = json_is_in_object(json) ? EXPECT_KEY : EXPECT_VALUE;
            break;
        default:
            return fail_here(json, "something follows the end of the JSON text");
        }
        json->at++;
    }
}

bool json_skip(struct json *json, enum json_type type)
{
    if (type != JSON_OBJECT_OPEN && type != JSON_ARRAY_OPEN)
        return type > JSON_END;
    for (unsigned depth = json->depth; json->depth >= depth;)
        if (json_next(json) <= JSON_END)
            return false;
    return true;
}
