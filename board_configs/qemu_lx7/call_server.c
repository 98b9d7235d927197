// A program that calls the functions linked into it as it is told through its input: the other
// end is host/ttikit/emulator/xtensa_lx7.py. Requests and answers are words, little-endian:
//
//   READ address n               -> n bytes
//   WRITE address n, n bytes     (no answer)
//   MAP address page n           (no answer) n pages of the RAM from `page` on appear at
//                                `address`; LX7_PAGE_ABSENT for `page` takes them away
//   CALL function n, n words     -> 0, result
//                                or 1, cause, pc, address of the access, stack pointer
#include <stddef.h>
#include <stdint.h>

#include "host.h"
#include "lx7.h"
#include "trap.h"

enum {
    READ = 1,
    WRITE,
    MAP,
    CALL
};

#define MAX_ARGUMENTS (16)
#define PAGE_BYTES    (4096)

typedef uint32_t function_t(uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t,
                            uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t,
                            uint32_t, uint32_t);

int main(void);

// The whole of it; the program ends when its input does.
static void receive(void *to, size_t n) {
    for (uintptr_t at = (uintptr_t)to, end = at + n; at < end;) {
        int32_t got = host_call(HOST_READ, HOST_INPUT, at, end - at);
        if (got <= 0) {
            host_exit(got < 0);
        }
        at += (uint32_t)got;
    }
}

static void send(const void *from, size_t n) {
    for (uintptr_t at = (uintptr_t)from, end = at + n; at < end;) {
        int32_t put = host_call(HOST_WRITE, HOST_OUTPUT, at, end - at);
        if (put <= 0) {
            host_exit(2);
        }
        at += (uint32_t)put;
    }
}

static void map(uint32_t address, uint32_t page, uint32_t count) {
    volatile uint32_t *entry = (volatile uint32_t *)LX7_PAGE_TABLE + address / PAGE_BYTES;
    for (uint32_t i = 0; i < count; i++) {
        entry[i] = page == LX7_PAGE_ABSENT ? page : (page + i * PAGE_BYTES) | LX7_PAGE_DATA;
    }
    lx7_forget_pages();
}

static void call(uint32_t function, uint32_t count) {
    uint32_t a[MAX_ARGUMENTS] = {0};
    if (count > MAX_ARGUMENTS) {
        host_exit(3);
    }
    receive(a, count * sizeof(a[0]));
    uint32_t result =
        ((function_t *)function)(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10],
                                 a[11], a[12], a[13], a[14], a[15]);
    uint32_t answer[] = {0, result};
    send(answer, sizeof(answer));
}

int main(void) {
    for (;;) {
        uint32_t request[3];
        receive(request, sizeof(request));
        switch (request[0]) {
        case READ:
            send((const void *)request[1], request[2]);
            break;
        case WRITE:
            receive((void *)request[1], request[2]);
            break;
        case MAP: {
            uint32_t count;
            receive(&count, sizeof(count));
            map(request[1], request[2], count);
            break;
        }
        case CALL:
            call(request[1], request[2]);
            break;
        default:
            host_exit(4);
        }
    }
}

// The call is over; the loop begins again on an empty stack.
void cpu_fault(void) {
    uint32_t answer[] = {1, trap_frame.cause, trap_frame.pc, trap_frame.vaddr, trap_frame.a[1]};
    send(answer, sizeof(answer));
    main();
    host_exit(5);
}

void cpu_interrupt(void) {
    cpu_fault(); // none is enabled
}
