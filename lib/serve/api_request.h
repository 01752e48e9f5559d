/*
 * The requests of the symbol API, parsed from JSON. Anyone with the address can send requests, so the reader checks
 * every type and size.
 */
#pragma once

#include "base/arena.h"
#include "base/array.h"
#include "base/error.h"

enum {
    API_BODY_MAX = 16 << 20, /* bytes */
    /* The server rejects a larger body, but reads up to this limit: most clients send all of it before they read the
     * answer. */
    API_BODY_READ_MAX = 64 << 20,
    PROFILE_BODY_MAX = 1 << 30, /* bytes of a posted profile, which is stored in a file in memory */
    API_DEPTH_MAX = 16,         /* nesting of arrays and objects; valid requests have 6 levels */
    API_VALUES_MAX = 1 << 20    /* values in one request; an address needs 3 */
};

struct request_module {
    const char *name; /* the debug name */
    const char *key;  /* "debug name/breakpad id" */
};

struct request_frame {
    uint32_t module; /* index in the modules of its job */
    uint64_t address;
};

/* A job: its ranges of the arrays in struct symbolicate_request. */
struct request_job {
    size_t first_module, module_count;
    size_t first_stack, stack_count;
};

struct symbolicate_request {
    ARRAY(struct request_job) jobs;
    ARRAY(struct request_module) modules;
    ARRAY(size_t) stack_ends; /* end of each stack in `frames` */
    ARRAY(struct request_frame) frames;
    struct arena arena; /* memory of all texts */
};

/* Returns 0, -EINVAL for an invalid request, -E2BIG beyond the limits, or -ENOMEM, and fills `err`. The caller destroys
 * the request in all cases. */
int symbolicate_request_read(struct symbolicate_request *request, const char *body, size_t size, struct error *err);
void symbolicate_request_destroy(struct symbolicate_request *request);

struct source_request {
    const char *key;  /* library, "debug name/breakpad id", or NULL if the file is a script */
    uint64_t address; /* address in the library */
    const char *file;
    struct arena arena;
};

/* As above. */
int source_request_read(struct source_request *request, const char *body, size_t size, struct error *err);
void source_request_destroy(struct source_request *request);

/* Request for disassembly: the library has this key or, without a key, this code id. */
struct asm_request {
    const char *key;     /* NULL if none */
    const char *code_id; /* NULL if none */
    uint64_t start, size;
    bool until_function_end;
    struct arena arena;
};

/* As above. */
int asm_request_read(struct asm_request *request, const char *body, size_t size, struct error *err);
void asm_request_destroy(struct asm_request *request);
