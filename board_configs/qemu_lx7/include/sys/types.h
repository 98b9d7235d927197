#ifndef TTI_LX7_SYS_TYPES_H
#define TTI_LX7_SYS_TYPES_H

#include <stddef.h>
#include <stdint.h>

typedef int ssize_t;
typedef long off_t;

// lib/libm takes these from here.
typedef int32_t __int32_t;
typedef uint32_t __uint32_t;
typedef uint8_t __uint8_t;

#endif
