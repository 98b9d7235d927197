// Time, from the CPU's 32-bit counter.
#include "cpu.h"

#include "py/mphal.h"
#include "py/runtime.h"

#define LONGEST_SLEEP_MS (500)

static uint64_t ticks;
static uint32_t last_count;
static uint32_t boot_seconds; // of the host's clock, less the ticks until then

// An interrupt calls this too, so interrupts are masked while the sum is made.
static uint64_t ticks64(void) {
    mp_uint_t state = MICROPY_BEGIN_ATOMIC_SECTION();
    uint32_t count = cpu_ticks();
    ticks += (uint32_t)(count - last_count);
    last_count = count;
    uint64_t now = ticks;
    MICROPY_END_ATOMIC_SECTION(state);
    return now;
}

void clock_update(void) {
    ticks64();
}

mp_uint_t mp_hal_ticks_cpu(void) {
    return (mp_uint_t)cpu_ticks();
}

mp_uint_t mp_hal_ticks_us(void) {
    return (mp_uint_t)(ticks64() / CPU_TICKS_PER_US);
}

mp_uint_t mp_hal_ticks_ms(void) {
    return (mp_uint_t)(ticks64() / (CPU_TICKS_PER_US * 1000));
}

uint64_t mp_hal_time_ns(void) {
    if (boot_seconds == 0) {
        uint32_t up = (uint32_t)(ticks64() / (CPU_TICKS_PER_US * 1000000));
        boot_seconds = cpu_host_seconds() - up;
    }
    return boot_seconds * 1000000000ull + ticks64() * 1000 / CPU_TICKS_PER_US;
}

void mp_hal_delay_us(mp_uint_t us) {
    uint64_t end = ticks64() + (uint64_t)us * CPU_TICKS_PER_US;
    while (ticks64() < end) {
    }
}

void mp_hal_delay_ms(mp_uint_t ms) {
    uint64_t end = ticks64() + (uint64_t)ms * CPU_TICKS_PER_US * 1000;
    for (;;) {
        mp_event_handle_nowait();
        uint64_t now = ticks64();
        if (now >= end) {
            return;
        }
        board_wait((int)((end - now) / (CPU_TICKS_PER_US * 1000)) + 1);
    }
}

// Nothing may come between the look for work and the sleep, or it would wait for the next wake-up.
void board_wait(int ms) {
    mp_uint_t state = MICROPY_BEGIN_ATOMIC_SECTION();
    bool work = MP_STATE_VM(sched_state) == MP_SCHED_PENDING || board_has_input();
    if (!work) {
        cpu_sleep(ms > 0 && ms < LONGEST_SLEEP_MS ? (uint32_t)ms : LONGEST_SLEEP_MS);
    }
    MICROPY_END_ATOMIC_SECTION(state);
}
