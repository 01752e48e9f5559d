/*
 * Transforms of a stack view.
 */
#pragma once

#include "tree/stack_view.h"
#include "tree/transform.h"

/* Applies a transform to a derived view (stack_view_derive()). Takes time linear in the number of stacks; for an
 * inverted path, times the length of the path. Indexes out of range match nothing. Does not update view->used: see
 * stack_view_find_used(). */
int stack_view_transform(struct stack_view *view, const struct profile *profile, const struct transform *transform,
                         struct error *err);

/* Finds which stacks of the view are used, after the last transform. */
int stack_view_find_used(struct stack_view *view, struct error *err);
