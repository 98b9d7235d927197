// From reset to main(), and what happens when the processor finds a fault.
#include "cpu.h"

#include <stdio.h>

#include "an505.h"

// The linker script's. Their addresses are the values.
extern uint32_t _sidata, _sdata, _edata, _sbss, _ebss, _sstack, _estack;

void Reset_Handler(void);
void SysTick_Handler(void);
void UART0_Receive_Handler(void);

// What the processor pushes when an interrupt or a fault comes.
typedef struct {
    uint32_t r0, r1, r2, r3, r12, lr, pc, psr;
} frame_t;

__attribute__((used)) static void start(void) {
    SCB_CPACR |= CPACR_FPU;
    __asm volatile("dsb\n\tisb" ::: "memory");
    for (uint32_t *from = &_sidata, *to = &_sdata; to < &_edata;) {
        *to++ = *from++;
    }
    for (uint32_t *to = &_sbss; to < &_ebss;) {
        *to++ = 0;
    }
    main();
    board_stop("main() has ended");
}

// The stack limit makes a stack that grows into the heap a fault.
__attribute__((naked)) void Reset_Handler(void) {
    __asm volatile("ldr r0, =_sstack\n\t"
                   "msr msplim, r0\n\t"
                   "ldr r0, =_estack\n\t"
                   "mov sp, r0\n\t"
                   "b start");
}

// The faulting address, where the processor knows it: " address 0x…".
static int append_address(char *text, size_t size, uint32_t cfsr) {
    if ((cfsr & CFSR_MEM_VALID) != 0) {
        return snprintf(text, size, " address 0x%08x", (unsigned)SCB_MMFAR);
    }
    if ((cfsr & CFSR_BUS_VALID) != 0) {
        return snprintf(text, size, " address 0x%08x", (unsigned)SCB_BFAR);
    }
    return 0;
}

__attribute__((used)) static void fault(const frame_t *frame) {
    static char text[160];
    uint32_t cfsr = SCB_CFSR;
    int n = snprintf(text, sizeof(text), "%s, cfsr 0x%08x hfsr 0x%08x",
                     (cfsr & CFSR_STACK_LIMIT) != 0 ? "stack overflow" : "hard fault",
                     (unsigned)cfsr, (unsigned)SCB_HFSR);
    n += append_address(text + n, sizeof(text) - (size_t)n, cfsr);
    if ((cfsr & CFSR_NOT_STACKED) == 0) {
        snprintf(text + n, sizeof(text) - (size_t)n, " pc 0x%08x lr 0x%08x", (unsigned)frame->pc,
                 (unsigned)frame->lr);
    }
    board_stop(text);
}

// The old stack may be full or the fault's cause: what reports it begins at the stack's top.
__attribute__((naked)) static void Fault_Handler(void) {
    __asm volatile("mrs r0, msp\n\t"
                   "movs r1, #0\n\t"
                   "msr msplim, r1\n\t"
                   "ldr r1, =_estack\n\t"
                   "mov sp, r1\n\t"
                   "b fault");
}

static void Unexpected_Handler(void) {
    board_stop("an interrupt that nothing handles");
}

const void *const vectors[] __attribute__((section(".vectors"), used)) = {
    [0] = &_estack,
    [1] = Reset_Handler,
    [2] = Fault_Handler, // NMI
    [3] = Fault_Handler, // hard, memory, bus, usage and secure fault
    [4] = Fault_Handler,
    [5] = Fault_Handler,
    [6] = Fault_Handler,
    [7] = Fault_Handler,
    [11] = Unexpected_Handler, // SVC
    [12] = Unexpected_Handler, // debug monitor
    [14] = Unexpected_Handler, // PendSV
    [15] = SysTick_Handler,
    [16 + UART0_RECEIVE_IRQ] = UART0_Receive_Handler,
};
