// MicroPython is built with NDEBUG.
#ifndef TTI_LX7_ASSERT_H
#define TTI_LX7_ASSERT_H

#define assert(condition) ((void)0)
#define static_assert     _Static_assert

#endif
