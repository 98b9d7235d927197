#ifndef TTI_LX7_STDIO_H
#define TTI_LX7_STDIO_H

#include <stdarg.h>
#include <stddef.h>

int printf(const char *format, ...);
int snprintf(char *to, size_t size, const char *format, ...);
int vprintf(const char *format, va_list list);
int vsnprintf(char *to, size_t size, const char *format, va_list list);
int putchar(int c);
int puts(const char *text);

#define SEEK_SET 0
#define SEEK_CUR 1
#define SEEK_END 2

#endif
