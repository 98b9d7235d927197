#ifndef TTI_LX7_INTTYPES_H
#define TTI_LX7_INTTYPES_H

#include <stdint.h>

#define PRIu8  "u"
#define PRIx8  "x"
#define PRIu16 "u"
#define PRIx16 "x"
#define PRId32 "d"
#define PRIi32 "i"
#define PRIu32 "u"
#define PRIx32 "x"

#endif
