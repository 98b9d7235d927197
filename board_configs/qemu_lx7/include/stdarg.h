// Variable arguments. clang 22's own va_arg for Xtensa reads the wrong words: the six registers'
// area is taken as if no named argument had come before, and arguments on the stack are 40 bytes
// too far. Only its va_start is used here, and corrected.
#ifndef TTI_LX7_STDARG_H
#define TTI_LX7_STDARG_H

typedef struct {
    char *stack, *registers;
    unsigned at; // in bytes, from the first register on; the stack begins at 32
} va_list;

#define VA_REGISTER_BYTES 24

#define va_start(list, last)                                                                      \
    do {                                                                                          \
        union {                                                                                   \
            __builtin_va_list theirs;                                                             \
            va_list ours;                                                                         \
        } start_;                                                                                 \
        __builtin_va_start(start_.theirs, last);                                                  \
        (list) = start_.ours;                                                                     \
        (list).registers -= (list).at;                                                            \
    } while (0)
#define va_end(list)       ((void)(list))
#define va_copy(to, from)  ((to) = (from))
#define va_arg(list, type) (*(type *)va_next_(&(list), sizeof(type), _Alignof(type)))

static inline
    __attribute__((always_inline)) void *va_next_(va_list *list, unsigned size, unsigned align) {
    unsigned at = list->at;
    if (align > 4) {
        at = (at + 7) & ~7u;
    }
    size = (size + 3) & ~3u;
    unsigned end = at + size;
    if (at <= VA_REGISTER_BYTES && end > VA_REGISTER_BYTES) {
        end = 32 + size;
    }
    list->at = end;
    return (end <= VA_REGISTER_BYTES ? list->registers : list->stack) + end - size;
}

#endif
