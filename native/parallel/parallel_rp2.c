// Core 1 of an RP2350 (or RP2040), started by the primitive under MicroPython's `_thread`: so the
// port knows that the core is taken, locks it out while flash is written, and its GC finds the
// stack. A user's `_thread` and the worker exclude each other: core1_entry is whose the core is.
#include "parallel.h"

#include "py/mpthread.h"
#include "py/nlr.h"

#include "hardware/sync.h"
#include "pico/multicore.h"

// The deepest kernel takes 4.6 KB; the rest is for split.c and for the lockout's interrupt.
#define STACK_BYTES 6144

// Written by one core at a time: IDLE to GIVEN and LEAVE by core 0, GIVEN to IDLE by core 1. No
// mutex, so that core 0 can take an interrupt anywhere. The FIFO between the cores belongs to the
// lockout.
enum {
    IDLE,
    GIVEN,
    LEAVE
};
static int state;
static tti_work_t current_work;
static const void *current_job;

static inline int get_state(void) {
    return __atomic_load_n(&state, __ATOMIC_ACQUIRE);
}

static inline void set_state(int to) {
    __atomic_store_n(&state, to, __ATOMIC_RELEASE);
    __dsb(); // the other core must not wake before the store is there, and sleep again
    __sev();
}

static void *worker(void *unused) {
    for (;;) {
        int now = get_state();
        if (now == LEAVE) {
            return unused;
        }
        if (now == GIVEN) {
            current_work(current_job, 1);
            set_state(IDLE);
        } else {
            __wfe();
        }
    }
}

static inline bool runs(void) {
    return core1_entry == worker;
}

bool tti_parallel_start(void) {
    if (runs()) {
        return true;
    }
    if (core1_entry != NULL) {
        return false;
    }
    state = IDLE;
    nlr_buf_t nlr;
    if (nlr_push(&nlr) == 0) {
        size_t bytes = STACK_BYTES;
        mp_thread_create(worker, NULL, &bytes);
        nlr_pop();
        return true;
    }
    // There is no memory for the stack; the port has marked the core as taken before it asked.
    core1_entry = NULL;
    return false;
}

// The core is reset because otherwise it would rest on a stack that the GC is about to free.
// A soft reset has done all of this when it comes to the finalisers.
void tti_parallel_stop(void) {
    if (!runs()) {
        return;
    }
    set_state(LEAVE);
    while (__atomic_load_n(&core1_entry, __ATOMIC_ACQUIRE) != NULL) {
        tight_loop_contents();
    }
    multicore_reset_core1();
}

// An interrupt handler on core 0 may call an op while core 0 is in here: then the worker is busy.
bool tti_parallel_run(tti_work_t work, const void *job) {
    static bool busy;
    if (!runs() || busy) {
        return false;
    }
    busy = true;
    current_work = work;
    current_job = job;
    set_state(GIVEN);
    work(job, 0);
    while (get_state() != IDLE) {
        __wfe();
    }
    busy = false;
    return true;
}
