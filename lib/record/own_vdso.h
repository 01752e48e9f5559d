/*
 * The vDSO: the small library that the kernel maps into every process. It is no file, but the same in all 64-bit
 * processes of a running kernel, so our own stands for that of any other.
 */
#ifndef PROF_RECORD_OWN_VDSO_H
#define PROF_RECORD_OWN_VDSO_H

#include <stddef.h>

/* Its ELF image, which stays where it is as long as we live; NULL if there is none. */
const unsigned char *own_vdso(size_t *size);

#endif
