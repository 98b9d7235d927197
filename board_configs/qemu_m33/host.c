// The host's services by Arm semihosting: a breakpoint that QEMU answers.
#include "cpu.h"

#include <string.h>

enum { // Arm's numbers
    SYS_OPEN = 0x01,
    SYS_CLOSE = 0x02,
    SYS_WRITE0 = 0x04,
    SYS_READ = 0x06,
    SYS_TIME = 0x11,
    SYS_EXIT_EXTENDED = 0x20
};
#define OPEN_BINARY_READ (1u)
#define APPLICATION_EXIT (0x20026u)

static uintptr_t host_call(uintptr_t number, uintptr_t argument) {
    register uintptr_t r0 __asm("r0") = number;
    register uintptr_t r1 __asm("r1") = argument;
    __asm volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
    return r0;
}

bool cpu_host_random(void *buf, size_t len) {
    const char *path = "/dev/urandom";
    uintptr_t open[] = {(uintptr_t)path, OPEN_BINARY_READ, strlen(path)};
    uintptr_t file = host_call(SYS_OPEN, (uintptr_t)open);
    if (file == UINTPTR_MAX) {
        return false;
    }
    uintptr_t read[] = {file, (uintptr_t)buf, len};
    bool whole = host_call(SYS_READ, (uintptr_t)read) == 0; // the bytes that it did not read
    host_call(SYS_CLOSE, (uintptr_t)&file);
    return whole;
}

uint32_t cpu_host_seconds(void) {
    return (uint32_t)host_call(SYS_TIME, 0);
}

void cpu_host_error(const char *line) {
    host_call(SYS_WRITE0, (uintptr_t)line);
    host_call(SYS_WRITE0, (uintptr_t)"\n");
}

_Noreturn void cpu_host_exit(int status) {
    uintptr_t reason[] = {APPLICATION_EXIT, (uintptr_t)status};
    for (;;) {
        host_call(SYS_EXIT_EXTENDED, (uintptr_t)reason);
    }
}
