/*
 * The flame graph as a self-contained SVG file, like those of flamegraph.pl: a click zooms, and a search highlights
 * functions that match a regular expression. Positions of rects are fractions of the width, which the script scales to
 * the width of the window. The header stays visible, because the graph may be taller than the window. Without
 * scripting, the graph is static, with a title for each rect.
 */
#include "export/exporters.h"

#include "base/sink_writer.h"
#include "base/utf8.h"
#include "tree/flame.h"
#include "tree/value_text.h"

enum { WIDTH = 1600, ROW = 17, HEAD = 44, MARGIN = 8, ROOM_FOR_TEXT = 24, DECIMALS = 6 };
static const double character_width = 6.6; /* px, of 11 px monospace */
static const double least_width = 0.15;    /* px */
enum { NAME_LIMIT = 1000 };                /* limit of a name in a title, characters */

/* Firefox's names of category colors. */
static const struct {
    const char *name;
    uint8_t red, green, blue;
} colors[] = {
    {"yellow", 245, 205, 90},   {"orange", 240, 150, 80},  {"red", 230, 110, 100},  {"lightred", 240, 160, 150},
    {"magenta", 225, 130, 200}, {"purple", 175, 140, 225}, {"blue", 115, 160, 235}, {"lightblue", 145, 195, 240},
    {"green", 130, 200, 120},   {"brown", 195, 155, 120},  {"grey", 195, 195, 200}, {"darkgrey", 150, 150, 155},
};
enum { COLORS = sizeof(colors) / sizeof(*colors), GREY = COLORS - 2 };

struct svg {
    const struct export_view *view;
    const struct profile *profile;
    struct sink_writer *out;
    struct flame_rects rects;
    uint32_t rows;
    double total;
};

/* Escapes text for XML 1.0, and omits characters that XML does not allow. */
static void write_text(struct svg *svg, const char *text, size_t most)
{
    static const char *const entities[256] = {
        ['&'] = "&amp;", ['<'] = "&lt;", ['>'] = "&gt;", ['"'] = "&quot;", ['\''] = "&#39;"};
    const char *end = text + strlen(text);
    for (size_t length; text < end && most > 0; text += length, most--) {
        unsigned char first = (unsigned char)*text;
        length = utf8_measure_character(text, end);
        if (length == 0) {
            length = 1;
            sink_put_z(svg->out, UTF8_REPLACEMENT);
        } else if (entities[first]) {
            sink_put_z(svg->out, entities[first]);
        } else if (utf8_is_visible(utf8_decode(text, length)) && utf8_decode(text, length) != 0xfffe &&
                   utf8_decode(text, length) != 0xffff) {
            sink_put(svg->out, text, length);
        }
    }
}

static size_t count_characters(const char *text)
{
    size_t count = 0;
    for (; *text; text++)
        count += ((unsigned char)*text & 0xc0) != 0x80;
    return count;
}

static void write_number(struct svg *svg, const char *before, double value, unsigned decimals)
{
    sink_put_z(svg->out, before);
    sink_put_decimal(svg->out, (int64_t)llround(value * pow(10, decimals)), decimals);
}

/* Writes the color of a change: orange for more on the new side, blue for less. People with color blindness can
 * distinguish orange and blue. */
static bool write_change_fill(struct svg *svg, const struct flame_rect *rect)
{
    static const uint8_t more[3] = {255, 163, 72}, less[3] = {98, 160, 234}; /* names are black */
    double both = fabs(rect->new_total) + fabs(rect->base_total);
    double change = both > 0 ? (rect->new_total - rect->base_total) / both : 0;
    char text[32];
    if (!profile_is_comparison(svg->profile))
        return false;
    const uint8_t *color = change > 0 ? more : less;
    double part = fabs(change) > 1 ? 1 : sqrt(fabs(change)); /* makes small changes visible */
    int used = snprintf(text, sizeof(text), "\" fill=\"#");
    for (int i = 0; i < 3; i++)
        used += snprintf(text + used, sizeof(text) - (size_t)used, "%02x", (unsigned)(235 + (color[i] - 235) * part));
    sink_put_z(svg->out, text);
    return true;
}

/* Writes a shade of the color of the category, which depends on the name only. */
static void write_fill(struct svg *svg, const struct flame_rect *rect, const char *name)
{
    size_t color = GREY;
    uint32_t shade = 0;
    char text[16];
    if (rect->category < svg->profile->categories.length)
        for (size_t i = 0; i < COLORS; i++)
            if (strcmp(colors[i].name,
                       profile_text(svg->profile, svg->profile->categories.data[rect->category].color)) == 0)
                color = i;
    for (const char *at = name; *at; at++)
        shade = shade * 31 + (unsigned char)*at;
    double light = 0.86 + shade % 29 / 100.0;
    const uint8_t parts[3] = {colors[color].red, colors[color].green, colors[color].blue};
    int used = snprintf(text, sizeof(text), "#");
    for (int i = 0; i < 3; i++)
        used += snprintf(text + used, sizeof(text) - (size_t)used, "%02x",
                         (unsigned)(parts[i] * light > 255 ? 255 : parts[i] * light));
    sink_put_z(svg->out, "\" fill=\"");
    sink_put_z(svg->out, text);
}

static void write_amount(struct svg *svg, double weight)
{
    char text[QUANTITY_TEXT_MAX];
    const char *unit = svg->view->weight.unit;
    format_weight(text, weight, unit);
    write_text(svg, text, SIZE_MAX);
    if (strcmp(unit, "bytes") == 0)
        return; /* its text has a unit */
    sink_put_z(svg->out, " ");
    write_text(svg, unit, NAME_LIMIT);
}

static void write_title(struct svg *svg, const struct flame_rect *rect, const char *name)
{
    sink_put_z(svg->out, "<title>");
    write_text(svg, name, NAME_LIMIT);
    if (rect->func != PROFILE_NONE) {
        const char *lib = profile_text(svg->profile, get_func_names(svg->profile, rect->func).lib);
        sink_put_z(svg->out, *lib ? " [" : "");
        write_text(svg, lib, NAME_LIMIT);
        sink_put_z(svg->out, *lib ? "]" : "");
    }
    sink_put_z(svg->out, "\n");
    if (profile_is_comparison(svg->profile)) {
        sink_put_z(svg->out, "base ");
        write_amount(svg, rect->base_total);
        sink_put_z(svg->out, ", new ");
        write_amount(svg, rect->new_total);
        sink_put_z(svg->out, ", change ");
    }
    write_amount(svg, rect->total);
    write_number(svg, ", ", svg->total > 0 ? 100 * fabs(rect->total) / svg->total : 0, 2);
    sink_put_z(svg->out, "%");
    if (rect->func != PROFILE_NONE) {
        sink_put_z(svg->out, ", self ");
        write_amount(svg, rect->self);
    }
    sink_put_z(svg->out, "</title>");
}

static void write_rect(struct svg *svg, const struct flame_rect *rect)
{
    char many[48];
    const char *name = many;
    double x = rect->start * WIDTH, width = (rect->end - rect->start) * WIDTH;
    uint32_t level = svg->view->is_inverted ? rect->depth : svg->rows - 1 - rect->depth;
    double y = HEAD + (double)level * ROW;
    snprintf(many, sizeof(many), "(%u narrow functions)", rect->count);
    if (rect->func != PROFILE_NONE)
        name = profile_text(svg->profile, get_func_names(svg->profile, rect->func).name);
    write_number(svg, "<g data-x=\"", rect->start, DECIMALS + 3);
    write_number(svg, "\" data-w=\"", rect->end - rect->start, DECIMALS + 3);
    sink_put_z(svg->out, "\">");
    write_title(svg, rect, name);
    write_number(svg, "<rect x=\"", x, 2);
    write_number(svg, "\" y=\"", y, 0);
    write_number(svg, "\" width=\"", width > 1 ? width - 0.5 : width, 2);
    write_number(svg, "\" height=\"", ROW - 1, 0);
    if (!write_change_fill(svg, rect))
        write_fill(svg, rect, name);
    sink_put_z(svg->out, rect->matches ? "" : "\" fill-opacity=\"0.35");
    write_number(svg, "\"/><text x=\"", x + 3, 2);
    write_number(svg, "\" y=\"", y + 12, 0);
    sink_put_z(svg->out, "\">");
    if (width >= ROOM_FOR_TEXT && rect->func != PROFILE_NONE) {
        size_t room = (size_t)((width - 6) / character_width);
        bool fits = count_characters(name) <= room;
        write_text(svg, name, fits ? room : room - 2);
        sink_put_z(svg->out, fits ? "" : "..");
    }
    sink_put_z(svg->out, "</text></g>\n");
}

/* ---- the script ---- */

/* The script zooms, searches, and fits texts into their rects. The script reads the titles, and writes no markup. */
static const char script[] =
    "<script><![CDATA[\n"
    "'use strict';\n"
    "const svg = document.documentElement, groups = [...svg.querySelectorAll('g[data-x]')];\n"
    "const CHAR = 6.6;\n"
    "let W = +svg.getAttribute('data-width');\n"
    "const nameOf = g => g.firstElementChild.textContent.split('\\n')[0].replace(/ \\[[^\\]]*\\]$/, '');\n"
    "for (const g of groups) {\n"
    "  g.fx = +g.getAttribute('data-x'); g.fw = +g.getAttribute('data-w'); g.name = nameOf(g);\n"
    "  g.box = g.querySelector('rect'); g.label = g.querySelector('text'); g.fill = g.box.getAttribute('fill');\n"
    "}\n"
    "let from = 0, part = 1, pattern = null;\n"
    "const part_of = id => document.getElementById(id);\n"
    "const fit = (name, px) => {\n"
    "  const room = Math.floor((px - 6) / CHAR), all = [...name];\n"
    "  return px < 24 ? '' : all.length <= room ? name : all.slice(0, room - 2).join('') + '..';\n"
    "};\n"
    "function layOut() {\n"
    "  for (const g of groups) {\n"
    "    let a = (g.fx - from) / part, b = (g.fx + g.fw - from) / part;\n"
    "    const seen = b > 1e-9 && a < 1 - 1e-9;\n"
    "    g.style.display = seen ? '' : 'none';\n"
    "    if (!seen) continue;\n"
    "    a = Math.max(0, a); b = Math.min(1, b);\n"
    "    const x = a * W, w = (b - a) * W;\n"
    "    g.box.setAttribute('x', x); g.box.setAttribute('width', w > 1 ? w - 0.5 : w);\n"
    "    g.label.setAttribute('x', x + 3); g.label.textContent = fit(g.name, w);\n"
    "    g.box.style.opacity = g.fw > part * 1.0001 ? 0.55 : 1;\n"
    "  }\n"
    "  part_of('reset').style.display = part < 1 ? '' : 'none';\n"
    "}\n"
    "function mark() {\n"
    "  const found = [];\n"
    "  for (const g of groups) {\n"
    "    const hit = pattern !== null && pattern.test(g.name);\n"
    "    g.box.setAttribute('fill', hit ? '#d0f' : g.fill);\n"
    "    if (hit) found.push([g.fx, g.fx + g.fw]);\n"
    "  }\n"
    "  found.sort((a, b) => a[0] - b[0]);\n"
    "  let sum = 0, end = 0;\n"
    "  for (const [a, b] of found) { sum += Math.max(0, b - Math.max(a, end)); end = Math.max(end, b); }\n"
    "  part_of('found').textContent = pattern ? 'Matched: ' + (100 * sum).toFixed(1) + '%' : '';\n"
    "  part_of('search').textContent = pattern ? 'Clear search' : 'Search';\n"
    "}\n"
    "// The address contains the view, so that a link to it works.\n"
    "function keep() {\n"
    "  const parts = new URLSearchParams();\n"
    "  if (part < 1) { parts.set('from', from); parts.set('part', part); }\n"
    "  if (pattern) parts.set('search', pattern.source);\n"
    "  location.replace('#' + parts);\n"
    "}\n"
    "function setPattern(text) {\n"
    "  try { pattern = text ? new RegExp(text, /[A-Z]/.test(text) ? '' : 'i') : null; } catch (error) { "
    "alert(error.message); }\n"
    "  mark();\n"
    "}\n"
    "function search() {\n"
    "  setPattern(pattern ? '' : prompt('Functions to mark, as a regular expression (small letters match capital ones, "
    "too):', ''));\n"
    "  keep();\n"
    "}\n"
    "function zoom(a, w) {\n"
    "  from = a; part = w; layOut(); keep();\n"
    "}\n"
    "// The head is where the window begins, and as wide.\n"
    "function placeHead() {\n"
    "  part_of('head').setAttribute('transform', 'translate(' + scrollX + ',' + scrollY + ')');\n"
    "}\n"
    "function resize() {\n"
    "  W = Math.max(400, svg.parentNode === document ? innerWidth : W);\n"
    "  const height = svg.getAttribute('height');\n"
    "  svg.setAttribute('width', W); svg.setAttribute('viewBox', '0 0 ' + W + ' ' + height);\n"
    "  part_of('search').setAttribute('x', W - 8); part_of('found').setAttribute('x', W - 120);\n"
    "  layOut(); placeHead();\n"
    "}\n"
    "svg.addEventListener('click', event => {\n"
    "  const g = event.target.closest('g[data-x]'), id = event.target.id;\n"
    "  if (g) zoom(g.fx, g.fw);\n"
    "  else if (id === 'reset') zoom(0, 1);\n"
    "  else if (id === 'search') search();\n"
    "});\n"
    "svg.addEventListener('mouseover', event => {\n"
    "  const g = event.target.closest('g[data-x]');\n"
    "  part_of('details').textContent = g ? g.firstElementChild.textContent.replace('\\n', ': ') : '';\n"
    "});\n"
    "addEventListener('keydown', event => {\n"
    "  if (event.key === 'f' && (event.ctrlKey || event.metaKey)) { event.preventDefault(); search(); }\n"
    "  if (event.key === 'Escape') zoom(0, 1);\n"
    "});\n"
    "addEventListener('scroll', placeHead);\n"
    "addEventListener('resize', resize);\n"
    "const shown = new URLSearchParams(location.hash.slice(1));\n"
    "from = +shown.get('from') || 0; part = +shown.get('part') || 1;\n"
    "resize();\n"
    "setPattern(shown.get('search'));\n"
    "if (svg.hasAttribute('data-grows-up')) scrollTo(0, +svg.getAttribute('height'));\n"
    "]]></script>\n";

static const char style[] =
    "<style>g[data-x] { cursor: pointer } g[data-x]:hover rect { stroke: #000; stroke-width: 0.5 } "
    "g text { pointer-events: none } #head text { pointer-events: auto } #search, #reset { cursor: pointer } "
    ".ground { fill: #fff } #head { fill: #000 } "
    "@media (prefers-color-scheme: dark) { svg { background: #1e1e20 } .ground { fill: #1e1e20 } #head { fill: #eee } "
    "g[data-x]:hover rect { stroke: #fff } }</style>\n";

static void write_opening(struct svg *svg, double height)
{
    write_number(svg, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"",
                 WIDTH, 0);
    write_number(svg, "\" height=\"", height, 0);
    write_number(svg, "\" viewBox=\"0 0 ", WIDTH, 0);
    write_number(svg, " ", height, 0);
    write_number(svg, "\" data-width=\"", WIDTH, 0);
    sink_put_z(svg->out, svg->view->is_inverted ? "" : "\" data-grows-up=\"1");
    write_number(svg, "\" font-family=\"ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace\" font-size=\"",
                 11, 0);
    sink_put_z(svg->out, "\" fill=\"#000\">\n");
    sink_put_z(svg->out, style);
    sink_put_z(svg->out, "<rect class=\"ground\" width=\"100%\" height=\"100%\"/>\n");
}

/* Writes the header after the graph, so that viewers draw the header above the graph. */
static void write_header(struct svg *svg)
{
    write_number(svg, "<g id=\"head\"><rect class=\"ground\" width=\"100%\" height=\"", HEAD - 2, 0);
    write_number(svg, "\"/><text x=\"8\" y=\"18\" font-weight=\"bold\" font-size=\"", 13, 0);
    sink_put_z(svg->out, "\">");
    write_text(svg, profile_text(svg->profile, svg->profile->meta.product), 200);
    sink_put_z(svg->out, ": ");
    write_amount(svg, svg->total);
    if (svg->view->search[0]) {
        sink_put_z(svg->out, ", filter: ");
        write_text(svg, svg->view->search, 200);
    }
    write_number(
        svg,
        "</text>\n<text id=\"details\" x=\"8\" y=\"36\"></text>\n<text id=\"found\" text-anchor=\"end\" y=\"18\" "
        "x=\"",
        WIDTH - 120, 0);
    write_number(svg, "\"></text>\n<text id=\"search\" text-anchor=\"end\" y=\"18\" x=\"", WIDTH - MARGIN, 0);
    sink_put_z(svg->out, "\">Search</text>\n<text id=\"reset\" x=\"400\" y=\"18\" style=\"display:none\">Reset "
                         "zoom</text></g>\n");
}

int export_svg(const struct export_view *view, const struct byte_sink *sink, struct error *err)
{
    struct svg svg = {.view = view, .profile = engine_get_profile(view->engine)};
    const struct flame_request request = {.part = {0, 1}, .least = least_width / WIDTH};
    svg.total = engine_get_timings(view->engine)->root_total;
    svg.out = malloc(sizeof(*svg.out));
    int code = svg.out ? engine_compute_flame(view->engine, &request, &svg.rects, err) : error_no_memory(err);
    if (!code) {
        sink_writer_init(svg.out, sink, err);
        for (size_t i = 0; i < svg.rects.length; i++)
            svg.rows = svg.rects.data[i].depth + 1 > svg.rows ? svg.rects.data[i].depth + 1 : svg.rows;
        write_opening(&svg, HEAD + (double)svg.rows * ROW + MARGIN);
        for (size_t i = 0; i < svg.rects.length; i++)
            write_rect(&svg, &svg.rects.data[i]);
        write_header(&svg);
        sink_put_z(svg.out, script);
        sink_put_z(svg.out, "</svg>\n");
        code = sink_writer_finish(svg.out);
    }
    array_free(&svg.rects);
    free(svg.out);
    return code;
}
