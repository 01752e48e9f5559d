#pragma once

/* Version, commit and kind of this build, such as "0.1.0 (f626ca2fc01e, portable)". */
extern const char build_name[];
