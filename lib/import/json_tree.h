/*
 * A JSON text as a tree, for formats whose parts refer to each other in any order. Nodes are in the order of the text:
 * the first child follows its parent, and `next` is the node after the subtree, so no traversal needs recursion.
 *
 *     for (uint32_t child = json_tree_get_first(&tree, array); child != JSON_TREE_NONE;
 *          child = json_tree_get_next(&tree, array, child)) ...
 *
 * A node takes 24 bytes. Every function accepts JSON_TREE_NONE as a node, and returns JSON_TREE_NONE, NAN or NULL for
 * it, so a chain of lookups needs one check.
 */
#pragma once

#include "base/json.h"
#include "base/strings.h"

#define JSON_TREE_NONE UINT32_MAX

struct json_node {
    union {
        double number;
        uint32_t text; /* text of a string */
    };
    uint32_t key;  /* key in the object around the node, or STRING_NONE in arrays */
    uint32_t next; /* the node after the subtree of this node */
    uint8_t type;  /* enum json_type: JSON_OBJECT_OPEN, JSON_ARRAY_OPEN, or a scalar */
};

struct json_tree {
    ARRAY(struct json_node) nodes; /* [0] is the whole text */
    struct strings texts;
};

/* Reads a whole text. Errors name the byte. The caller frees the tree, also after a failure. */
int json_tree_read(struct json_tree *tree, const char *text, size_t size, struct error *err);

/* Reads the value whose first token, of type `type`, was just read. Clears the nodes of the tree first, but keeps its
 * texts. */
int json_tree_read_value(struct json_tree *tree, struct json *json, enum json_type type, struct error *err);

void json_tree_destroy(struct json_tree *tree);

/* First and next element of an array, or value of an object. */
uint32_t json_tree_get_first(const struct json_tree *tree, uint32_t node);
uint32_t json_tree_get_next(const struct json_tree *tree, uint32_t parent, uint32_t child);

/* Returns the value of a key, or JSON_TREE_NONE if the node is not an object, or lacks the key. */
uint32_t json_tree_get(const struct json_tree *tree, uint32_t node, const char *key);

bool json_tree_has_type(const struct json_tree *tree, uint32_t node, enum json_type type);

/* Returns NAN if the node is no number. */
double json_tree_get_number(const struct json_tree *tree, uint32_t node);

/* Returns a number, also from a text such as "12.5". */
double json_tree_get_number_or_text(const struct json_tree *tree, uint32_t node);

/* Returns an integer from 0 to `most`, else `otherwise`. */
uint64_t json_tree_get_integer(const struct json_tree *tree, uint32_t node, uint64_t most, uint64_t otherwise);

/* Returns NULL if the node is no string. */
const struct string_entry *json_tree_get_text(const struct json_tree *tree, uint32_t node);
bool json_tree_equals_text(const struct json_tree *tree, uint32_t node, const char *text);
