// Registers of QEMU's mps2-an505 that the board uses (secure addresses).
#ifndef TTI_QEMU_M33_AN505_H
#define TTI_QEMU_M33_AN505_H

#include <stdint.h>

#define REGISTER(address) (*(volatile uint32_t *)(address))

// CMSDK UART 0
#define UART0_DATA             REGISTER(0x50200000)
#define UART0_STATE            REGISTER(0x50200004)
#define UART0_CTRL             REGISTER(0x50200008)
#define UART0_INTCLEAR         REGISTER(0x5020000C)
#define UART0_BAUDDIV          REGISTER(0x50200010)
#define UART_SEND_FULL         (1u << 0) // in STATE
#define UART_RECEIVED          (1u << 1)
#define UART_SEND              (1u << 0) // in CTRL
#define UART_RECEIVE           (1u << 1)
#define UART_RECEIVE_INTERRUPT (1u << 3)
#define UART_RECEIVED_CLEAR    (1u << 1) // in INTCLEAR
#define UART0_RECEIVE_IRQ      (32)

// CMSDK dual timer, its first half; 20 MHz
#define TIMER_LOAD    REGISTER(0x50002000)
#define TIMER_VALUE   REGISTER(0x50002004)
#define TIMER_CONTROL REGISTER(0x50002008)
#define TIMER_ENABLE  (1u << 7)
#define TIMER_32_BITS (1u << 1)

// The core's own: SysTick, interrupts, reset, faults, coprocessors
#define SYST_CSR         REGISTER(0xE000E010)
#define SYST_RVR         REGISTER(0xE000E014)
#define SYST_CVR         REGISTER(0xE000E018)
#define SYST_ENABLE      (1u << 0)
#define SYST_INTERRUPT   (1u << 1)
#define SYST_CPU_CLOCK   (1u << 2)
#define NVIC_ISER(n)     REGISTER(0xE000E100 + 4 * (n))
#define SCB_AIRCR        REGISTER(0xE000ED0C)
#define AIRCR_RESET      (0x05FA0004u)
#define SCB_CFSR         REGISTER(0xE000ED28)
#define CFSR_MEM_VALID   (1u << 7)
#define CFSR_BUS_VALID   (1u << 15)
#define CFSR_NOT_STACKED (3u << 4 | 3u << 12 | 1u << 20) // the frame was not written whole
#define CFSR_STACK_LIMIT (1u << 20)
#define SCB_HFSR         REGISTER(0xE000ED2C)
#define SCB_MMFAR        REGISTER(0xE000ED34)
#define SCB_BFAR         REGISTER(0xE000ED38)
#define SCB_CPACR        REGISTER(0xE000ED88)
#define CPACR_FPU        (0xFu << 20)

#endif
