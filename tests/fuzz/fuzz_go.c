/* ELF files with a Go function table: the table is found, and read at addresses all over its text, also for frame
 * sizes. */
#include "elf/go_functions.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { PLACES = 256, FRAMES = 64 };
    unsigned char *image = malloc(size + 1); /* of its own, so that a read behind it is seen */
    struct elf_file file;
    struct go_functions functions;
    if (!image)
        return 0;
    memcpy(image, data, size);
    if (elf_file_open_image(&file, image, size, "fuzz", NULL) == 0) {
        if (go_functions_open(&functions, &file, NULL) == 0) {
            for (uint64_t i = 0; i < PLACES; i++) {
                struct go_function function;
                struct go_frame frames[FRAMES];
                uint64_t vaddr = 0x1000 + i * 12; /* where reduce_go_program.py puts them */
                if (go_functions_find_frame_size(&functions, vaddr) < -1)
                    abort();
                if (!go_functions_find(&functions, vaddr, &function))
                    continue;
                size_t count = go_functions_list_frames(&functions, &function, vaddr, frames, FRAMES);
                if (count == 0 || count > FRAMES || !frames[count - 1].name)
                    abort();
            }
            go_functions_close(&functions);
        }
        elf_file_close(&file);
    }
    free(image);
    return 0;
}
