#include "export/sanitize_text.h"

#include "base/ascii.h"

enum { SHORTEST_NAME = 3 };

/* Common account names of images, services and build machines. */
static const char *const common_users[] = {
    "admin",  "app",     "build",     "buildbot", "buildd", "builder",  "centos", "circleci", "code",
    "coder",  "conda",   "container", "core",     "daemon", "debian",   "dev",    "docker",   "ec2-user",
    "fedora", "git",     "gitpod",    "guest",    "home",   "iojs",     "java",   "jenkins",  "linuxbrew",
    "main",   "mysql",   "nixbld",    "nobody",   "node",   "postgres", "public", "python",   "root",
    "ruby",   "runner",  "rust",      "server",   "shared", "test",     "tester", "ubuntu",   "user",
    "users",  "vagrant", "vscode",    "work",     "worker", "www-data"};

void sanitize_words_destroy(struct sanitize_words *words)
{
    strings_destroy(&words->users);
    strings_destroy(&words->hosts);
    strings_destroy(&words->homes);
}

static bool is_common_account(const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof(common_users) / sizeof(*common_users); i++)
        if (strlen(common_users[i]) == length && memcmp(common_users[i], name, length) == 0)
            return true;
    return false;
}

bool sanitize_add_user(struct sanitize_words *words, const char *name, size_t length)
{
    return length < SHORTEST_NAME || is_common_account(name, length) ||
           strings_add(&words->users, name, length) != STRING_NONE;
}

bool sanitize_add_host(struct sanitize_words *words, const char *name, size_t length)
{
    bool is_local = length >= 9 && memcmp(name, "localhost", 9) == 0;
    if (length < SHORTEST_NAME || is_local || is_common_account(name, length))
        return true;
    const char *dot = memchr(name, '.', length);
    size_t first = dot ? (size_t)(dot - name) : length;
    return strings_add(&words->hosts, name, length) != STRING_NONE &&
           (first == length || sanitize_add_host(words, name, first));
}

bool sanitize_add_home(struct sanitize_words *words, const char *path)
{
    size_t length = strlen(path);
    while (length && path[length - 1] == '/')
        length--;
    return length < 2 || path[0] != '/' || strings_add(&words->homes, path, length) != STRING_NONE;
}

/* ---- characters ---- */

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_word(char c)
{
    return is_letter(c) || is_digit(c) || c == '_' || (unsigned char)c >= 0x80;
}

/* Returns whether the character may precede a slash in the same path. */
static bool may_precede_slash(char c)
{
    return is_word(c) || (c && strchr(".-+~@%", c));
}

/* Returns whether the character ends a URL, or the name of a directory. */
static bool is_address_end(char c)
{
    return (unsigned char)c <= ' ' || strchr("\"'`<>|()", c) != NULL;
}

static bool is_directory_end(char c)
{
    return is_address_end(c) || strchr("/\\:;,*?]", c) != NULL;
}

/* ---- home directories ---- */

static bool begins_with(const char *text, size_t length, const char *with)
{
    size_t size = strlen(with);
    return length >= size && memcmp(text, with, size) == 0;
}

/* Matches a home directory at a usual place, /home/NAME or /Users/NAME, at this slash. Returns the length of the match,
 * and sets *name to the position of NAME. Returns 0 if no place matches. */
static size_t match_usual_home(const char *text, size_t length, size_t *name)
{
    static const char *const parents[] = {"/home/", "/Users/", "\\Users\\", "\\\\Users\\\\"};
    for (size_t i = 0; i < sizeof(parents) / sizeof(*parents); i++) {
        if (!begins_with(text, length, parents[i]))
            continue;
        size_t end = strlen(parents[i]);
        *name = end;
        while (end < length &&
               (parents[i][0] == '\\' ? text[end] != '\\' && text[end] != '"' : !is_directory_end(text[end])))
            end++;
        return end > *name ? end : 0;
    }
    return 0;
}

bool sanitize_find_users(struct sanitize_words *words, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        size_t name, size = text[i] == '/' || text[i] == '\\' ? match_usual_home(text + i, length - i, &name) : 0;
        if (size && !sanitize_add_user(words, text + i + name, size - name))
            return false;
    }
    return true;
}

/* ---- the sensitive part at a position of a text ---- */

struct scan {
    const struct sanitize_words *words;
    const char *text;
    size_t length, at;
    unsigned parts;
    bool is_code;
    bool has_path; /* a path or an address; words outside of paths and addresses are names of code */
};

/* A sensitive part of a text: its length, and the replacement. */
struct cut {
    size_t length;
    const char *instead;
    unsigned part;
};

static bool is_preceded_by(const struct scan *scan, bool (*is)(char))
{
    return scan->at > 0 && is(scan->text[scan->at - 1]);
}

static bool ends_after(const struct scan *scan, size_t size, bool (*goes_on)(char))
{
    return scan->at + size >= scan->length || !goes_on(scan->text[scan->at + size]);
}

static struct cut find_home(const struct scan *scan)
{
    const char *text = scan->text + scan->at;
    size_t left = scan->length - scan->at, name;
    char first = text[0];
    bool is_inside = is_preceded_by(scan, may_precede_slash);
    for (size_t i = 0; !is_inside && first == '/' && i < scan->words->homes.entries.length; i++) {
        const struct string_entry *home = &scan->words->homes.entries.data[i];
        if (begins_with(text, left, home->text) && ends_after(scan, home->length, may_precede_slash))
            return (struct cut){home->length, "~", SANITIZE_HOMES};
    }
    size_t size = first == '/' || first == '\\' ? match_usual_home(text, left, &name) : 0;
    if (size)
        return (struct cut){size, first == '\\' ? "\\~" : is_inside ? "/~" : "~", SANITIZE_HOMES};
    if (!is_inside && begins_with(text, left, "/root") && ends_after(scan, 5, may_precede_slash))
        return (struct cut){5, "~", SANITIZE_HOMES};
    return (struct cut){0};
}

static bool is_scheme_character(char c)
{
    return is_letter(c) || is_digit(c) || c == '+' || c == '-' || c == '.';
}

/* Finds a URL, without its scheme. */
static struct cut find_url(const struct scan *scan)
{
    const char *text = scan->text + scan->at;
    size_t left = scan->length - scan->at, scheme = scan->at, end = 3;
    if (!begins_with(text, left, "://"))
        return (struct cut){0};
    while (scheme > 0 && is_scheme_character(scan->text[scheme - 1]))
        scheme--;
    size_t size = scan->at - scheme;
    if (size == 0 || (size == 4 && memcmp(scan->text + scheme, "file", 4) == 0))
        return (struct cut){0};
    while (end < left && !is_address_end(text[end]))
        end++;
    return end > 3 ? (struct cut){end, "://url", SANITIZE_URLS} : (struct cut){0};
}

static struct cut find_name(const struct scan *scan, const struct strings *names, const char *instead)
{
    for (size_t i = 0; i < names->entries.length; i++) {
        const struct string_entry *name = &names->entries.data[i];
        if (begins_with(scan->text + scan->at, scan->length - scan->at, name->text) &&
            ends_after(scan, name->length, is_word))
            return (struct cut){name->length, instead, SANITIZE_NAMES};
    }
    return (struct cut){0};
}

/* Returns the length of "1.2.3.4", else 0. Loopback and similar addresses reveal nothing. */
static size_t match_ipv4(const char *text, size_t length)
{
    size_t at = 0;
    unsigned first = 0, any = 0;
    for (unsigned part = 0; part < 4; part++) {
        unsigned value = 0;
        size_t begin = at;
        while (at < length && at < begin + 3 && is_digit(text[at]))
            value = value * 10 + (unsigned)(text[at++] - '0');
        if (at == begin || value > 255)
            return 0;
        if (part == 0)
            first = value;
        any |= value;
        if (part < 3 && (at == length || text[at++] != '.'))
            return 0;
    }
    return first == 127 || !any ? 0 : at;
}

/* Returns the length of "[2001:db8::1]", else 0. */
static size_t match_ipv6(const char *text, size_t length)
{
    size_t at = 1, colons = 0;
    while (at < length && (is_digit(text[at]) || strchr(":.abcdefABCDEF", text[at])) && text[at])
        colons += text[at++] == ':';
    bool is_own = at <= 4; /* [::], [::1] */
    return at < length && text[at] == ']' && colons >= 2 && !is_own ? at + 1 : 0;
}

static struct cut find_address(const struct scan *scan)
{
    const char *text = scan->text + scan->at;
    size_t left = scan->length - scan->at;
    if (text[0] == '[')
        return (struct cut){match_ipv6(text, left), "address", SANITIZE_NAMES};
    size_t size = is_digit(text[0]) ? match_ipv4(text, left) : 0;
    if (size && size < left &&
        (is_word(text[size]) || (text[size] == '.' && size + 1 < left && is_digit(text[size + 1]))))
        size = 0;
    return (struct cut){size, "address", SANITIZE_NAMES};
}

static struct cut find_sensitive_part(const struct scan *scan)
{
    struct cut cut = {0};
    if (scan->parts & SANITIZE_HOMES)
        cut = find_home(scan);
    if (!cut.length && scan->parts & SANITIZE_URLS)
        cut = find_url(scan);
    if (cut.length || !(scan->parts & SANITIZE_NAMES) || is_preceded_by(scan, is_word))
        return cut;
    if (!scan->is_code || scan->has_path) {
        cut = find_name(scan, &scan->words->users, "user");
        if (!cut.length)
            cut = find_name(scan, &scan->words->hosts, "host");
    }
    if (!cut.length && !(scan->at && scan->text[scan->at - 1] == '.'))
        cut = find_address(scan);
    return cut;
}

bool sanitize_text(const struct sanitize_words *words, unsigned parts, bool is_code, const char *text, size_t length,
                   struct text_buffer *out, unsigned *found)
{
    struct scan scan = {.words = words,
                        .text = text,
                        .length = length,
                        .parts = parts,
                        .is_code = is_code,
                        .has_path =
                            memchr(text, '/', length) || memchr(text, '\\', length) || memchr(text, '@', length)};
    size_t kept = 0;
    while (scan.at < length) {
        struct cut cut = find_sensitive_part(&scan);
        if (!cut.length) {
            scan.at++;
            continue;
        }
        *found |= cut.part;
        if (!text_append(out, text + kept, scan.at - kept) || !text_append_z(out, cut.instead))
            return false;
        kept = scan.at += cut.length;
    }
    return text_append(out, text + kept, length - kept);
}
