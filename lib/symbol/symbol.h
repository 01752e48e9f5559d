/*
 * Symbolization: from addresses of a library to names, inline frames, files and lines.
 *
 * One call takes all addresses of one library. symbolizer_lookup_all() works on several libraries, and on several
 * compile units of one, in parallel. A symbolizer keeps no debug files open between calls; with a cache, the symbolizer
 * keeps the answers.
 */
#pragma once

#include "base/arena.h"
#include "base/array.h"
#include "base/error.h"
#include "os/file_source.h"

#include <stdatomic.h>

enum symbol_lib_kind {
    SYMBOL_LIB_ELF,    /* `path` names an ELF file */
    SYMBOL_LIB_KERNEL, /* /proc/kallsyms, the core image: rva = address - address of _text */
    SYMBOL_LIB_MODULE, /* /proc/kallsyms, the kernel module `name`: rva = address - base of the module */
    SYMBOL_LIB_VDSO,   /* the ELF image in `image` */
};

/* Identity of a file mapped during recording. Used when the process has ended, and the path leads nowhere or to another
 * file. */
struct symbol_origin {
    /* opens the mapped file, or NULL if the recorder has only the path and the identity of the file */
    const struct file_source *file;
    int root_fd;                   /* root directory of its process if that is not ours (a container); else -1 */
    struct file_identity identity; /* identity of the file when prof opened it; size 0: prof could not open the file */
    bool is_silent;                /* the file system does not answer, so prof opens no file there */
};

/* A library as mapped during recording, or as named in a profile. */
struct symbol_lib {
    enum symbol_lib_kind kind;
    const char *name;              /* "libc.so.6", for messages */
    const char *path;              /* path of the mapped file, or NULL without a file */
    const unsigned char *build_id; /* GNU build id, or NULL for none */
    size_t build_id_size;
    const unsigned char *image; /* SYMBOL_LIB_VDSO: the ELF image */
    size_t image_size;
    const struct symbol_origin *origin; /* if NULL, only the path is known */
};

/* The reason why a library lacks names. */
enum missing_symbols_reason {
    MISSING_SYMBOLS_NONE,
    MISSING_SYMBOLS_NO_DEBUG_INFO, /* symbols, but no lines and inlined functions, neither in the file nor in a debug
                                      file */
    MISSING_SYMBOLS_STRIPPED,      /* the file exists, but some addresses have no symbol */
    MISSING_SYMBOLS_REPLACED,      /* the path leads to another file now */
    MISSING_SYMBOLS_NO_FILE,       /* the file does not exist */
    MISSING_SYMBOLS_NOT_READABLE,  /* no permission, or an I/O error */
    MISSING_SYMBOLS_NOT_ELF,       /* the file is not an ELF file: a language runtime maps its own format */
    MISSING_SYMBOLS_DAMAGED,       /* the headers of the file or its debug info cannot be read */
    MISSING_SYMBOLS_COUNT,
};

/* A short text for a list: "replaced", "no symbols". Empty for MISSING_SYMBOLS_NONE. */
const char *get_missing_symbols_text(enum missing_symbols_reason reason);

struct symbol_frame {
    const char *function; /* demangled, or NULL if unknown */
    const char *file;     /* path in the debug info, made absolute with the compilation directory, or NULL if unknown */
    uint32_t line;        /* 1-based running line (outer frame: the call site), or 0 if unknown */
    uint32_t column;      /* 1-based, or 0 if unknown */
};

/* The answer for one address; all zero if nothing is known. In a file without symbols, the call frame information may
 * give the function's address range: then `symbol` is NULL and symbol_size is not 0. */
struct symbol_answer {
    const char *symbol;      /* demangled name of the symbol that contains the address, or NULL for none */
    uint64_t symbol_address; /* library-relative start of `symbol` */
    uint64_t symbol_size;    /* bytes, or 0 if unknown */
    uint32_t first_frame;    /* into symbol_answers.frames: outermost function first, innermost inline last */
    uint32_t frame_count;    /* at least 1 with a symbol */
};

struct symbol_answers {
    struct symbol_answer *answers; /* one per address, in the same order */
    size_t count;
    ARRAY(struct symbol_frame) frames;
    struct arena arena; /* all texts and `answers` */
    char problem[256];  /* reason for missing names or lines ("/bin/x was replaced after it was mapped"), or empty */
    enum missing_symbols_reason missing_symbols; /* code of the reason in `problem` */
    bool is_found;       /* the library's file, a debug file, or the kernel's symbols were found */
    bool has_debug_info; /* the library has DWARF or a Go table */
    bool is_damaged;     /* the needed debug info contradicts the standard, so libdw does not read the file */
    size_t from_libdw;   /* number of addresses whose frames libdw found */
};

void symbol_answers_destroy(struct symbol_answers *answers);

struct debug_search;

/* Which code reads DWARF. */
enum symbol_reader {
    SYMBOL_READER_OWN,   /* our reader; libdw for units that it declines, unless the file has damaged units */
    SYMBOL_READER_LIBDW, /* libdw alone, for comparison; only for files without damage */
};

struct symbolizer_options {
    enum symbol_reader reader;
    unsigned threads;            /* 0: one per processor */
    bool skip_inlines_and_lines; /* uses only symbol tables; caches answers only in memory */
    bool use_cache;              /* cache answers, up to 64 MB */
    /* with use_cache: directory for files of cached answers, or NULL (cache only in memory) */
    const char *cache_directory;
    /* where to search for debug files, or NULL (the system's directories); must outlive the symbolizer */
    const struct debug_search *search;
    const atomic_bool *stop; /* may be NULL; once true, lookups soon end with -ECANCELED; must outlive the symbolizer */
};

struct symbolizer;

/* NULL if memory ran out. */
struct symbolizer *symbolizer_new(const struct symbolizer_options *options);
/* Writes new answers to the cache directory. Accepts NULL. */
void symbolizer_free(struct symbolizer *symbolizer);

/* Looks up `count` library-relative addresses, sorted and distinct. Each points into an instruction (for callers:
 * return address - 1). A library that prof cannot read is not a failure: its answers are empty, and `problem` has the
 * reason. Fails only when memory runs out. */
int symbolizer_lookup(struct symbolizer *symbolizer, const struct symbol_lib *lib, const uint64_t *rvas, size_t count,
                      struct symbol_answers *out, struct error *err);

struct kallsyms;

/* Returns the symbols of the running kernel, for addresses outside libraries. Reads the symbols at the first call; the
 * result is valid as long as the symbolizer. Fails only when memory runs out. */
int symbolizer_load_kallsyms(struct symbolizer *symbolizer, const struct kallsyms **out, struct error *err);

/* Returns the source text that the debug info embeds for the code at this address (clang -gembed-source). `file` is the
 * path of a frame at that address, which the caller checks. The caller frees the text, which may hold any bytes but
 * NUL. -ENOENT if the debug info embeds no text. */
int symbolizer_load_embedded_source(struct symbolizer *symbolizer, const struct symbol_lib *lib, uint64_t rva,
                                    const char *file, char **text, size_t *length, struct error *err);

struct symbol_job {
    struct symbol_lib lib;
    const uint64_t *rvas; /* sorted, distinct */
    size_t count;
    struct symbol_answers answers; /* filled in */
};

/* Finds the variables that contain the addresses of the jobs: fills only symbol, symbol_address and symbol_size of the
 * answers. Reads only symbol tables, no debug info and no cache. The caller frees the answers. Fails only when memory
 * runs out. */
int symbolizer_lookup_data(struct symbolizer *symbolizer, struct symbol_job *jobs, size_t count, struct error *err);

/* Runs all jobs on options.threads threads, the largest job first. The compile units of a job also run in parallel. */
int symbolizer_lookup_all(struct symbolizer *symbolizer, struct symbol_job *jobs, size_t count, struct error *err);
