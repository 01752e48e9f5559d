/*
 * The table is built in three linear passes, which mostly touch neighboring memory:
 *
 *  1. In stack order, find the child of the caller's node that has the stack's func, or add a child (a "draft" node,
 *     numbered in order of creation). Callers precede their callees, so for most stacks `child_bits` shows that the
 *     child is missing, or `last_used` is the child. Otherwise the pass walks the siblings. A node with more than
 *     MANY_CHILDREN has its children in a hash table, so a root with 100,000 callees does not take quadratic time.
 *  2. From last to first, add up the sizes of subtrees.
 *  3. From first to last, give each node its depth-first number, and write its row. A child takes the next free number
 * of its parent, and reserves one number for each node of its subtree. No walk over child lists is needed, and siblings
 * keep the order in which they were first seen.
 *
 * The data of later passes is in separate arrays, so the first pass touches few cache lines.
 */
#include "tree/call_nodes.h"

#include "base/hash.h"

enum { MANY_CHILDREN = 24, AT_ONCE = 1 << 14 };

/* The two long passes consist of many calls. A browser runs WebAssembly slowly at first, compiles functions that are
 * called often, and switches to the compiled code between calls, never inside a loop. */
#define CALLED_OFTEN __attribute__((noinline))

static size_t get_batch_end(size_t first, size_t length)
{
    return length - first < AT_ONCE ? length : first + AT_ONCE;
}

struct draft_node {
    uint32_t func;
    uint32_t child_bits;   /* the union of get_func_bit() of all children */
    uint32_t first_child;  /* the newest child, or NODE_NONE */
    uint32_t last_used;    /* the most recently found child, or NODE_NONE */
    uint32_t next_sibling; /* the next older child of the same parent, or NODE_NONE */
    uint16_t category;
    uint8_t child_count; /* number of children; MANY_CHILDREN + 1 if they are in the hash table */
};

struct draft {
    struct draft_node *nodes; /* nodes[0] is the caller of all roots; it is not part of the result */
    uint32_t *prefix;         /* caller of each draft, as the number of a draft */
    size_t length;
    struct hash many_children; /* (parent, func) -> child, of the parents with many children */
};

static uint64_t make_child_key(uint32_t parent, uint32_t func)
{
    return (uint64_t)parent << 32 | func;
}

/* Hashes a func to one of 32 bits (Fibonacci hashing). Two children of one node rarely share a bit. */
static uint32_t get_func_bit(uint32_t func)
{
    return UINT32_C(1) << (func * UINT32_C(2654435769) >> 27);
}

static bool move_children_to_hash(struct draft *draft, uint32_t parent)
{
    for (uint32_t c = draft->nodes[parent].first_child; c != NODE_NONE; c = draft->nodes[c].next_sibling)
        if (!hash_set(&draft->many_children, make_child_key(parent, draft->nodes[c].func), c))
            return false;
    return true;
}

static uint32_t find_child(const struct draft *draft, uint32_t parent, uint32_t func)
{
    const struct draft_node *nodes = draft->nodes;
    if (!(nodes[parent].child_bits & get_func_bit(func)))
        return NODE_NONE;
    uint32_t child = nodes[parent].last_used;
    if (nodes[child].func == func)
        return child;
    if (nodes[parent].child_count > MANY_CHILDREN)
        return hash_get(&draft->many_children, make_child_key(parent, func));
    for (child = nodes[parent].first_child; child != NODE_NONE; child = nodes[child].next_sibling)
        if (nodes[child].func == func)
            break;
    return child;
}

static bool add_child(struct draft *draft, uint32_t parent, uint32_t func, uint16_t category)
{
    struct draft_node *parent_node = &draft->nodes[parent];
    uint32_t child = (uint32_t)draft->length++;
    draft->prefix[child] = parent;
    draft->nodes[child] = (struct draft_node){.func = func,
                                              .first_child = NODE_NONE,
                                              .last_used = NODE_NONE,
                                              .next_sibling = parent_node->first_child,
                                              .category = category};
    parent_node->child_bits |= get_func_bit(func);
    parent_node->first_child = parent_node->last_used = child;
    if (parent_node->child_count > MANY_CHILDREN)
        return hash_set(&draft->many_children, make_child_key(parent, func), child);
    return ++parent_node->child_count <= MANY_CHILDREN || move_children_to_hash(draft, parent);
}

static CALLED_OFTEN bool draft_nodes_of_batch(struct draft *draft, const struct stack_view *stacks,
                                              uint32_t *node_of_stack, size_t first, size_t last)
{
    for (size_t stack = first; stack < last; stack++) {
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

static bool draft_nodes(struct draft *draft, const struct stack_view *stacks, uint32_t *node_of_stack)
{
    draft->nodes = malloc((stacks->length + 1) * sizeof(*draft->nodes));
    draft->prefix = malloc((stacks->length + 1) * sizeof(*draft->prefix));
    bool enough = draft->nodes && draft->prefix;
    if (enough) {
        draft->nodes[0] = (struct draft_node){.first_child = NODE_NONE, .last_used = NODE_NONE};
        draft->prefix[0] = NODE_NONE;
        draft->length = 1;
    }
    for (size_t first = 0; enough && first < stacks->length; first += AT_ONCE)
        enough = draft_nodes_of_batch(draft, stacks, node_of_stack, first, get_batch_end(first, stacks->length));
    return enough;
}

/* The number of nodes in the subtree of each draft, itself included. NULL if memory ran out. */
static uint32_t *sum_subtree_sizes(const struct draft *draft)
{
    uint32_t *sizes = calloc(draft->length, sizeof(*sizes));
    for (size_t i = draft->length; sizes && i-- > 1;)
        sizes[draft->prefix[i]] += ++sizes[i];
    return sizes;
}

/* Sets `number[i]` to the number of draft i. The size of a numbered node is obsolete, so its slot in `sizes` then holds
 * the next free number of the node's children. */
static CALLED_OFTEN void number_batch(struct call_nodes *nodes, const struct draft *draft, uint32_t *sizes,
                                      uint32_t *number, size_t first, size_t last)
{
    uint32_t *free_number = sizes;
    for (size_t i = first; i < last; i++) {
        uint32_t parent = draft->prefix[i], size = sizes[i];
        uint32_t at = free_number[parent], prefix = number[parent];
        free_number[parent] += size;
        free_number[i] = at + 1;
        number[i] = at;
        nodes->prefix[at] = prefix;
        nodes->end[at] = at + size;
        nodes->depth[at] = prefix == NODE_NONE ? 0 : nodes->depth[prefix] + 1;
        nodes->func[at] = draft->nodes[i].func;
        nodes->category[at] = draft->nodes[i].category;
    }
}

static void number_depth_first(struct call_nodes *nodes, const struct draft *draft, uint32_t *sizes, uint32_t *number)
{
    number[0] = NODE_NONE;
    sizes[0] = 0;
    for (size_t first = 1; first < draft->length; first += AT_ONCE)
        number_batch(nodes, draft, sizes, number, first, get_batch_end(first, draft->length));
}

static bool make_final_nodes(struct call_nodes *nodes, const struct draft *draft)
{
    nodes->length = draft->length - 1;
    nodes->prefix = malloc(draft->length * sizeof(*nodes->prefix));
    nodes->end = malloc(draft->length * sizeof(*nodes->end));
    nodes->func = malloc(draft->length * sizeof(*nodes->func));
    nodes->depth = malloc(draft->length * sizeof(*nodes->depth));
    nodes->category = malloc(draft->length * sizeof(*nodes->category));
    uint32_t *sizes = sum_subtree_sizes(draft), *number = calloc(draft->length, sizeof(*number));
    bool enough = nodes->prefix && nodes->end && nodes->func && nodes->depth && nodes->category && sizes && number;
    if (enough)
        number_depth_first(nodes, draft, sizes, number);
    for (size_t stack = 0; enough && stack < nodes->stack_count; stack++)
        if (nodes->of_stack[stack] != NODE_NONE)
            nodes->of_stack[stack] = number[nodes->of_stack[stack]];
    free(sizes);
    free(number);
    return enough;
}

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
    bool done = nodes->of_stack && draft_nodes(&draft, stacks, nodes->of_stack) && make_final_nodes(nodes, &draft) &&
                find_nodes_of_samples(nodes, stacks);
    free(draft.nodes);
    free(draft.prefix);
    hash_destroy(&draft.many_children);
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
