/*
 * How the table is built in a few linear passes that mostly touch memory near to what they touched just before:
 *
 *  1. In stack order, find the child of the caller's node that has the stack's func, or add one ("draft" nodes,
 * numbered in order of creation). Stacks are made caller first, so most find either a caller without children or, in
 *     `last_used`, the very child. Otherwise the siblings are walked; a node with more than MANY_CHILDREN has its
 *     children in a hash table instead, so that a root with 100,000 different callees does not take quadratic time.
 *  2. From last to first, add up the sizes of subtrees.
 *  3. From first to last, give each node its depth-first number: a child takes the next free number of its parent, and
 *     reserves as many as its subtree has. No walk over child lists is needed, and siblings keep the order in which
 * they were first seen.
 */
#include "tree/call_nodes.h"

#include "base/hash.h"

#include <stdlib.h>

enum { MANY_CHILDREN = 24 };

struct draft_node {
    uint32_t func;
    uint32_t prefix;
    union {
        uint32_t first_child; /* pass 1: the youngest child, NODE_NONE */
        uint32_t number;      /* pass 3: the depth-first number */
    };
    union {
        uint32_t last_used;    /* pass 1: the child that was found last, NODE_NONE */
        uint32_t subtree_size; /* pass 2 */
        uint32_t free_number;  /* pass 3: of the next child */
    };
    uint32_t next_sibling; /* the next older, NODE_NONE */
    uint16_t category;
    uint8_t child_count; /* at most MANY_CHILDREN + 1, which means: in the hash table */
};

struct draft {
    struct draft_node *nodes; /* nodes[0] is the caller of all roots; it is not part of the result */
    size_t length;
    struct hash crowded; /* (parent, func) -> child, of the parents with many children */
};

static uint64_t child_key(uint32_t parent, uint32_t func)
{
    return (uint64_t)parent << 32 | func;
}

static bool move_children_to_hash(struct draft *draft, uint32_t parent)
{
    for (uint32_t c = draft->nodes[parent].first_child; c != NODE_NONE; c = draft->nodes[c].next_sibling)
        if (!hash_set(&draft->crowded, child_key(parent, draft->nodes[c].func), c))
            return false;
    return true;
}

static uint32_t find_child(const struct draft *draft, uint32_t parent, uint32_t func)
{
    const struct draft_node *nodes = draft->nodes;
    uint32_t child = nodes[parent].last_used;
    if (child == NODE_NONE || nodes[child].func == func)
        return child;
    if (nodes[parent].child_count > MANY_CHILDREN)
        return hash_get(&draft->crowded, child_key(parent, func));
    for (child = nodes[parent].first_child; child != NODE_NONE; child = nodes[child].next_sibling)
        if (nodes[child].func == func)
            break;
    return child;
}

/* False if memory ran out. */
static bool add_child(struct draft *draft, uint32_t parent, uint32_t func, uint16_t category)
{
    struct draft_node *parent_node = &draft->nodes[parent];
    uint32_t child = (uint32_t)draft->length++;
    draft->nodes[child] = (struct draft_node){.func = func,
                                              .prefix = parent,
                                              .first_child = NODE_NONE,
                                              .last_used = NODE_NONE,
                                              .next_sibling = parent_node->first_child,
                                              .category = category};
    parent_node->first_child = parent_node->last_used = child;
    if (parent_node->child_count > MANY_CHILDREN)
        return hash_set(&draft->crowded, child_key(parent, func), child);
    return ++parent_node->child_count <= MANY_CHILDREN || move_children_to_hash(draft, parent);
}

/* False if memory ran out. */
static bool draft_nodes(struct draft *draft, const struct stack_view *stacks, uint32_t *node_of_stack)
{
    draft->nodes = malloc((stacks->length + 1) * sizeof(*draft->nodes));
    if (!draft->nodes)
        return false;
    draft->nodes[0] = (struct draft_node){.prefix = NODE_NONE, .first_child = NODE_NONE, .last_used = NODE_NONE};
    draft->length = 1;
    for (size_t stack = 0; stack < stacks->length; stack++) {
        if (stacks->used && !stacks->used[stack]) {
            node_of_stack[stack] = NODE_NONE;
            continue;
        }
        uint32_t caller = stacks->prefix[stack];
        uint32_t parent = caller == PROFILE_NONE ? 0 : node_of_stack[caller];
        uint32_t node = find_child(draft, parent, stacks->func[stack]);
        if (node == NODE_NONE) {
            node = (uint32_t)draft->length;
            if (!add_child(draft, parent, stacks->func[stack], stacks->category[stack]))
                return false;
        } else {
            draft->nodes[parent].last_used = node;
            if (draft->nodes[node].category != stacks->category[stack])
                draft->nodes[node].category = (uint16_t)stacks->default_category;
        }
        node_of_stack[stack] = node;
    }
    return true;
}

static void sum_subtree_sizes(struct draft *draft)
{
    for (size_t i = 0; i < draft->length; i++)
        draft->nodes[i].subtree_size = 1;
    for (size_t i = draft->length; i-- > 1;)
        draft->nodes[draft->nodes[i].prefix].subtree_size += draft->nodes[i].subtree_size;
}

static void number_depth_first(struct draft *draft, uint32_t *draft_of_number)
{
    draft->nodes[0].number = NODE_NONE;
    draft->nodes[0].free_number = 0;
    for (size_t i = 1; i < draft->length; i++) {
        struct draft_node *node = &draft->nodes[i];
        struct draft_node *parent = &draft->nodes[node->prefix];
        node->number = parent->free_number;
        parent->free_number += node->subtree_size;
        node->free_number = node->number + 1;
        draft_of_number[node->number] = (uint32_t)i;
    }
}

/* When all children of a node have taken their numbers, its next free number is the end of its subtree. */
static void fill_rows(struct call_nodes *nodes, const struct draft *draft, const uint32_t *draft_of_number)
{
    for (size_t at = 0; at < nodes->length; at++) {
        const struct draft_node *node = &draft->nodes[draft_of_number[at]];
        uint32_t prefix = draft->nodes[node->prefix].number;
        nodes->end[at] = node->free_number;
        nodes->prefix[at] = prefix;
        nodes->depth[at] = prefix == NODE_NONE ? 0 : nodes->depth[prefix] + 1;
        nodes->category[at] = node->category;
        nodes->func[at] = node->func;
    }
}

/* False if memory ran out. */
static bool finish(struct call_nodes *nodes, struct draft *draft)
{
    nodes->length = draft->length - 1;
    nodes->prefix = malloc(draft->length * sizeof(*nodes->prefix));
    nodes->end = malloc(draft->length * sizeof(*nodes->end));
    nodes->func = calloc(draft->length, sizeof(*nodes->func));
    nodes->depth = malloc(draft->length * sizeof(*nodes->depth));
    nodes->category = malloc(draft->length * sizeof(*nodes->category));
    if (!nodes->prefix || !nodes->end || !nodes->func || !nodes->depth || !nodes->category)
        return false;
    sum_subtree_sizes(draft);
    number_depth_first(draft, nodes->func); /* which fill_rows() replaces, row by row, by the func */
    fill_rows(nodes, draft, nodes->func);
    for (size_t stack = 0; stack < nodes->stack_count; stack++)
        if (nodes->of_stack[stack] != NODE_NONE)
            nodes->of_stack[stack] = draft->nodes[nodes->of_stack[stack]].number;
    return true;
}

/* False if memory ran out. */
static bool find_nodes_of_samples(struct call_nodes *nodes, const struct stack_view *stacks)
{
    nodes->of_sample = nodes->of_stack;
    if (!stacks->leaf)
        return true;
    nodes->of_sample = malloc((nodes->stack_count + 1) * sizeof(*nodes->of_sample));
    for (size_t stack = 0; nodes->of_sample && stack < nodes->stack_count; stack++) {
        uint32_t leaf = stacks->leaf[stack];
        nodes->of_sample[stack] = leaf == PROFILE_NONE ? NODE_NONE : nodes->of_stack[leaf];
    }
    return nodes->of_sample != NULL;
}

int call_nodes_init(struct call_nodes *nodes, const struct stack_view *stacks, struct error *err)
{
    *nodes = (struct call_nodes){.stack_count = stacks->length, .func_count = stacks->func_count};
    nodes->of_stack = calloc(stacks->length + 1, sizeof(*nodes->of_stack));
    struct draft draft = {0};
    bool done = nodes->of_stack && draft_nodes(&draft, stacks, nodes->of_stack) && finish(nodes, &draft) &&
                find_nodes_of_samples(nodes, stacks);
    free(draft.nodes);
    hash_destroy(&draft.crowded);
    if (done)
        return 0;
    call_nodes_destroy(nodes);
    return error_no_memory(err);
}

void call_nodes_destroy(struct call_nodes *nodes)
{
    free(nodes->prefix);
    free(nodes->end);
    free(nodes->func);
    free(nodes->depth);
    free(nodes->category);
    if (nodes->of_sample != nodes->of_stack)
        free(nodes->of_sample);
    free(nodes->of_stack);
    *nodes = (struct call_nodes){0};
}
