/*
 * From addresses of a library to names, inline frames, files and lines.
 *
 * One call takes all the addresses of one library; a symbolizer works on several libraries, and on several compile
 * units of one, in parallel (symbolizer_lookup_all). Nothing of a debug file is kept once its addresses are answered;
 * the answers are, if that is wanted.
 */
#ifndef PROF_SYMBOL_SYMBOL_H
#define PROF_SYMBOL_SYMBOL_H

#include "base/arena.h"
#include "base/array.h"
#include "base/error.h"
#include "base/file_source.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum symbol_lib_kind {
    SYMBOL_LIB_ELF,    /* `path` names an ELF file */
    SYMBOL_LIB_KERNEL, /* /proc/kallsyms, the core image: rva = address - address of _text */
    SYMBOL_LIB_MODULE, /* /proc/kallsyms, the kernel module `name`: rva = address - base of the module */
    SYMBOL_LIB_VDSO,   /* the ELF image in `image` */
};

/* What a recorder knows of a mapped file, for when its process is gone and the path leads to another file or to none.
 */
struct symbol_origin {
    const struct file_source *file; /* leads to the file itself; NULL: it is known by path and identity */
    int root_fd;                    /* the root folder of its process where that is not ours (a container); -1 */
    struct file_identity identity;  /* of the file when it was opened; size 0: it could not be */
};

/* A library as it was mapped while recording (or as a profile names it). */
struct symbol_lib {
    enum symbol_lib_kind kind;
    const char *name;              /* "libc.so.6", for messages */
    const char *path;              /* where it was mapped from; NULL if not a file */
    const unsigned char *build_id; /* GNU build id; NULL if it had none */
    size_t build_id_size;
    const unsigned char *image; /* SYMBOL_LIB_VDSO: the ELF image */
    size_t image_size;
    const struct symbol_origin *origin; /* NULL: known by its path alone */
};

/* Why a library has no names, or fewer than it could have. */
enum missing_symbols_reason {
    MISSING_SYMBOLS_NONE,
    MISSING_SYMBOLS_NO_DEBUG_INFO, /* it has symbols, but neither it nor a debug file has lines and inlined functions */
    MISSING_SYMBOLS_STRIPPED,      /* it is there, but some of its addresses have no symbol */
    MISSING_SYMBOLS_REPLACED,      /* the file of that path is another one by now */
    MISSING_SYMBOLS_NO_FILE,       /* there is no such file, or it never was one */
    MISSING_SYMBOLS_NOT_READABLE,  /* not allowed, or the disk failed */
    MISSING_SYMBOLS_DAMAGED,       /* not an ELF file, or one whose debug info cannot be read */
    MISSING_SYMBOLS_COUNT,
};

/* In a few words, for a list: "replaced", "no symbols". Empty for MISSING_SYMBOLS_NONE. */
const char *missing_symbols_text(enum missing_symbols_reason reason);

struct symbol_frame {
    const char *function; /* demangled; NULL if unknown */
    const char *file; /* as the debug info names it, made absolute with its compilation directory; NULL if unknown */
    uint32_t line;    /* 1-based line that executes (in an outer frame: of the call); 0 if unknown */
    uint32_t column;  /* 1-based; 0 if unknown */
};

/* What is known of one address. Nothing known: all zero. In a file without symbols the extent of the function may be
 * known all the same, from its call frame information: then `symbol` is NULL, and symbol_size is not 0. */
struct symbol_answer {
    const char *symbol;      /* demangled name of the symbol that contains the address; NULL if there is none */
    uint64_t symbol_address; /* library-relative start of that symbol */
    uint64_t symbol_size;    /* bytes; 0 if unknown */
    uint32_t first_frame;    /* into symbol_answers.frames: outermost function first, innermost inline last */
    uint32_t frame_count;    /* with a symbol at least 1 */
};

struct symbol_answers {
    struct symbol_answer *answers; /* one per address, in the order asked */
    size_t count;
    ARRAY(struct symbol_frame) frames;
    struct arena arena; /* all texts and `answers` */
    char problem[256];  /* why names or lines are missing ("/bin/x was replaced after it was mapped"), or empty */
    enum missing_symbols_reason missing_symbols; /* the same in one word */
    bool is_found;       /* a file of this library was found, its own or a debug file, or the kernel has its symbols */
    bool has_debug_info; /* DWARF was found for this library, or the table of a Go program */
    bool is_damaged;     /* some of the debug info that was needed contradicts the standard; libdw is not asked then */
    size_t from_libdw;   /* addresses whose frames libdw has found */
};

void symbol_answers_destroy(struct symbol_answers *answers);

struct debug_search;

/* Who reads DWARF. */
enum symbol_reader {
    SYMBOL_READER_OWN,   /* our reader; libdw for units that it declines, and for none of a file with damaged ones */
    SYMBOL_READER_LIBDW, /* libdw alone, to compare: only for files that our reader did not find damaged */
};

struct symbolizer_options {
    enum symbol_reader reader;
    unsigned threads;                  /* 0: as many as there are processors */
    bool skip_inlines_and_lines;       /* names from symbol tables only; they are remembered in memory alone */
    bool use_cache;                    /* what was looked up once is remembered, up to 64 MB of it */
    const char *cache_folder;          /* with use_cache: and for the next time in files there; NULL: in memory alone */
    const struct debug_search *search; /* where debug files are; NULL: where the system has them. Must outlive it */
    const atomic_bool *stop; /* NULL, or: lookups end with -ECANCELED soon after it is true. Must outlive it */
};

struct symbolizer;

struct symbolizer *symbolizer_new(const struct symbolizer_options *options, struct error *err);
/* Writes what is new to the cache folder. NULL is allowed. */
void symbolizer_free(struct symbolizer *symbolizer);

/* Answers `count` library-relative addresses, sorted ascending and distinct, that each point into an instruction (for
 * callers: return address - 1). A library that cannot be read is no failure: the answers are empty and `problem` says
 * why. Fails only when memory runs out. */
int symbolizer_lookup(struct symbolizer *symbolizer, const struct symbol_lib *lib, const uint64_t *rvas, size_t count,
                      struct symbol_answers *out, struct error *err);

struct kallsyms;

/* The symbols of the kernel that runs now, for addresses of no library; valid as long as the symbolizer, and read at
 * the first call. NULL if memory ran out. */
const struct kallsyms *symbolizer_kallsyms(struct symbolizer *symbolizer, struct error *err);

/* The text of a source file that the compiler stored in the debug info of the code at this address (clang
 * -gembed-source). `file` is a path that a frame of the address has: whether one has is for the caller to check. The
 * text is the caller's to free, and may hold any bytes but NUL. -ENOENT if there is none. */
int symbolizer_embedded_source(struct symbolizer *symbolizer, const struct symbol_lib *lib, uint64_t rva,
                               const char *file, char **text, size_t *length, struct error *err);

struct symbol_job {
    struct symbol_lib lib;
    const uint64_t *rvas; /* sorted, distinct */
    size_t count;
    struct symbol_answers answers; /* filled in */
};

/* All jobs at once, on options.threads threads: the biggest first, and the compile units of one in parallel. */
int symbolizer_lookup_all(struct symbolizer *symbolizer, struct symbol_job *jobs, size_t count, struct error *err);

#endif
