/*
 * The ids of the rows of a tree in JSON, and --node ID, which limits a report to the samples of one row. An id is a
 * hash of the names from the root to the row. So the id is equal in all reports with the same transforms before --node,
 * also of other recordings of a program.
 */
#include "cmd/report/report_node.h"

#include "cmd/report/report_text.h"
#include "cmd/common/ui.h"

#include "base/json_write.h"
#include "tree/wait_names.h"

#include <inttypes.h>

enum { ID_SIZE = 18 };

static uint64_t hash_text(uint64_t hash, const char *text)
{
    for (size_t length = strlen(text) + 1; length > 0; length--)
        hash = (hash ^ (unsigned char)*text++) * UINT64_C(0x100000001b3); /* FNV-1a, with the NUL */
    return hash;
}

/* Returns the id above the roots of the tree, which is the id of the caller after --node. */
static uint64_t get_root_id(const struct report *report)
{
    static const uint64_t basis = UINT64_C(0xcbf29ce484222325);
    return report->callers.length ? report->callers_id : hash_text(basis, report->options.inverted ? "inverted" : "");
}

uint64_t *report_node_ids_new(const struct report *report, const struct tree_rows *rows)
{
    uint32_t deepest = 0;
    for (size_t i = 0; i < rows->length; i++)
        deepest = rows->depth[i] > deepest ? rows->depth[i] : deepest;
    uint64_t *ids = calloc((size_t)deepest + 2, sizeof(*ids)); /* by level, from -1 */
    if (ids)
        ids[0] = get_root_id(report);
    return ids;
}

uint64_t report_make_node_id(const struct report *report, const struct tree_rows *rows, size_t i, uint64_t *ids)
{
    uint64_t *id = &ids[rows->depth[i] + 1];
    const struct func_names names = get_func_names(report->profile, rows->func[i]);
    *id = hash_text(id[-1], profile_text(report->profile, names.name));
    *id = hash_text(*id, profile_text(report->profile, names.lib));
    *id = hash_text(*id, profile_text(report->profile, names.file));
    return *id;
}

void report_write_node_id(struct json_writer *json, uint64_t id)
{
    char text[ID_SIZE];
    snprintf(text, sizeof(text), "n%016" PRIx64, id);
    json_member_text(json, "id", text);
}

/* ---- --node ---- */

/* Finds the row with an id, and stores the id of its caller. */
static int find_row(struct report *report, const struct tree_rows *rows, uint64_t wanted, uint32_t *node,
                    struct error *err)
{
    uint64_t *ids = report_node_ids_new(report, rows);
    if (!ids)
        return error_no_memory(err);
    for (size_t i = 0; i < rows->length && *node == NODE_NONE; i++) {
        if (report_make_node_id(report, rows, i, ids) != wanted)
            continue;
        report->callers_id = ids[rows->depth[i]];
        *node = rows->node[i];
    }
    free(ids);
    return 0;
}

/* Stores the row and its callers, from the root. The path may begin at the row of an earlier --node. */
static int store_callers(struct report *report, const struct node_path *path, struct error *err)
{
    struct tree_rows row = {0};
    size_t callers = report->callers.length;
    int code = 0;
    if (callers && report->callers.func[callers - 1] == path->data[0])
        report->callers.length--;
    for (size_t length = 1; !code && length <= path->length; length++) {
        uint32_t node;
        code = engine_find_node(report->engine, path->data, length, false, &node, err);
        if (!code)
            code = engine_read_row(report->engine, node, &row, err);
        if (!code && !tree_rows_push(&report->callers, (struct tree_row){.func = *row.func, .total = *row.total}))
            code = error_no_memory(err);
    }
    tree_rows_destroy(&row);
    return code;
}

int report_find_node(struct report *report, const char *id, struct node_path *path)
{
    struct tree_rows rows = {0};
    struct error err = {0};
    uint64_t wanted;
    uint32_t node = NODE_NONE;
    int code = engine_list_descendants(report->engine, NODE_NONE, SIZE_MAX, &rows, &err);
    if (!code && strlen(id) == ID_SIZE - 1 && sscanf(id, "n%16" SCNx64, &wanted) == 1)
        code = find_row(report, &rows, wanted, &node, &err);
    if (!code && node != NODE_NONE)
        code = engine_read_path(report->engine, node, path, &err);
    if (!code && node != NODE_NONE)
        code = store_callers(report, path, &err);
    tree_rows_destroy(&rows);
    if (code)
        return ui_fail_with_error(&err);
    return node == NODE_NONE ? ui_fail("--node: no row of this tree has the id '%s'; --json shows the ids", id)
                             : EXIT_SUCCESS;
}

/* ---- JSON ---- */

static int write_lines(struct json_writer *json, const struct report *report, struct error *err)
{
    struct tree_rows roots = {0};
    struct node_details details = {0};
    int code = engine_list_children(report->engine, NODE_NONE, &roots, err);
    if (!code && roots.length)
        code = engine_compute_details(report->engine, roots.node[0], &details, err);
    json_member_open(json, "lines", '[');
    for (size_t i = 0; !code && i < details.lines.length; i++) {
        json_open(json, '{');
        json_member_double(json, "line", details.lines.data[i].line);
        json_member_double(json, "total", details.lines.data[i].total);
        json_member_double(json, "self", details.lines.data[i].self);
        json_close(json, '}');
    }
    json_close(json, ']');
    node_details_destroy(&details);
    tree_rows_destroy(&roots);
    return code;
}

static int write_waits(struct json_writer *json, const struct report *report, struct error *err)
{
    struct wait_groups groups = {0};
    int code = engine_has_waits(report->engine) ? engine_group_waits(report->engine, WAITS_BY_OBJECT, &groups, err) : 0;
    json_member_open(json, "waits", '[');
    for (size_t i = 0; !code && i < groups.list.length; i++) {
        json_open(json, '{');
        json_member_text(json, "object", get_wait_object_name(report->engine, &groups.list.data[i]));
        json_member_text(json, "reason", get_wait_reason_name(report->engine, groups.list.data[i].reason));
        json_member_double(json, "ms", groups.list.data[i].total);
        json_close(json, '}');
    }
    json_close(json, ']');
    wait_groups_destroy(&groups);
    return code;
}

int report_write_node(struct json_writer *json, const struct report *report, struct error *err)
{
    const struct tree_rows *callers = &report->callers;
    json_member_open(json, "node", '{');
    json_member_text(json, "name", report_get_func_name(report, callers->func[callers->length - 1]));
    json_member_double(json, "total", callers->total[callers->length - 1]);
    json_member_open(json, "callers", '[');
    for (size_t i = 0; i + 1 < callers->length; i++) {
        json_open(json, '{');
        json_member_text(json, "name", report_get_func_name(report, callers->func[i]));
        json_member_double(json, "total", callers->total[i]);
        json_close(json, '}');
    }
    json_close(json, ']');
    int code = write_lines(json, report, err);
    if (!code)
        code = write_waits(json, report, err);
    json_close(json, '}');
    return code;
}
