/*
 * Export for web/src/engine/processes.ts: the tree of processes.
 */
#include "tree/process_json.h"
#include "wasm/wasm_calls.h"
#include "wasm/wasm_session.h"

/* Returns ProcessTree of processes.ts, as JSON, for the processes that live in a range. */
const struct view *session_processes(struct session *session, double from, double to)
{
    const struct profile *profile = engine_get_profile(session->engine);
    struct process_tree tree = {0};
    session_begin_json(session);
    int code = process_tree_make(&tree, profile, (struct time_range){from, to}, &session->err);
    json_open(&session->json, '{');
    if (!code)
        code = write_process_tree(&session->json, &tree, profile, SIZE_MAX, &session->err);
    json_close(&session->json, '}');
    process_tree_destroy(&tree);
    return session_answer_json(session, code);
}
