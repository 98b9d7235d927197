// The emulator's services ("simcall"): files of the PC, QEMU's own standard ones first; the end.
#ifndef TTI_QEMU_LX7_HOST_H
#define TTI_QEMU_LX7_HOST_H

#include <stddef.h>
#include <stdint.h>

enum {
    HOST_EXIT = 1,
    HOST_READ = 3,
    HOST_WRITE = 4,
    HOST_OPEN = 5,
    HOST_CLOSE = 6,
    HOST_SEEK = 19,
    HOST_ARGUMENT_BYTES = 1001,
    HOST_ARGUMENTS = 1002,
};

enum { // files that are open
    HOST_INPUT,
    HOST_OUTPUT,
    HOST_ERRORS,
};

enum { // of HOST_OPEN, on Linux
    HOST_READ_ONLY = 0,
    HOST_WRITE_ONLY = 1,
    HOST_READ_WRITE = 2,
};

enum { // the reasons for an answer of -1
    HOST_IO_ERROR = 5,
    HOST_TRY_AGAIN = 11,
};

typedef struct {
    int32_t answer, reason;
} host_answer_t;

// For both ABIs: an instruction that QEMU takes with the number in a2. It answers there and in a3.
static inline host_answer_t host_ask(int32_t number, uintptr_t a, uintptr_t b, uintptr_t c) {
    register int32_t a2 __asm("a2") = number;
    register uintptr_t a3 __asm("a3") = a;
    register uintptr_t a4 __asm("a4") = b;
    register uintptr_t a5 __asm("a5") = c;
    __asm volatile(".byte 0x00, 0x51, 0x00" : "+r"(a2), "+r"(a3) : "r"(a4), "r"(a5) : "memory");
    return (host_answer_t){a2, (int32_t)a3};
}

static inline int32_t host_call(int32_t number, uintptr_t a, uintptr_t b, uintptr_t c) {
    return host_ask(number, a, b, c).answer;
}

_Noreturn static inline void host_exit(int status) {
    for (;;) {
        host_call(HOST_EXIT, (uintptr_t)status, 0, 0);
    }
}

#endif
