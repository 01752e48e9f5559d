/*
 * Marks itself from C++: scopes, nested, and left by an exception.
 *
 * build: -std=c++11 -O2 -g -Iinclude
 */
#include <prof/marks.h>

#include <cstdio>
#include <stdexcept>

static void leave_by_exception()
{
    PROF_INTERVAL_TEXT("thrown", "left by an exception");
    throw std::runtime_error("on purpose");
}

int main()
{
    PROF_INTERVAL("main");
    {
        prof::interval outer("outer");
        PROF_INTERVAL("inner");
        prof_counter("level", 2);
    }
    try {
        leave_by_exception();
    } catch (const std::exception &e) {
        prof_mark_text("caught", e.what());
    }
    std::printf("%d\n", prof_marks_are_recorded());
}
