/*
 * Transforms of a stack view.
 */
#pragma once

#include "tree/stack_view.h"
#include "tree/transform.h"

/* Changes a derived view (stack_view_derive()) as the transform says. Linear in the number of stacks, times the length
 * of an inverted path where it matches. Indexes that the profile does not have match nothing. view->used is that of
 * before: see stack_view_find_used(). */
int stack_view_transform(struct stack_view *view, const struct profile *profile, const struct transform *transform,
                         struct error *err);

/* Finds out which stacks of the view are left in use, after the last transform. */
int stack_view_find_used(struct stack_view *view, struct error *err);
