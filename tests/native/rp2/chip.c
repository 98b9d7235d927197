#include "chip.h"

#include <assert.h>
#include <pthread.h>

core_entry_func_t core1_entry = NULL;
nlr_buf_t *chip_nlr = NULL;
bool chip_no_memory = false;
int chip_resets = 0;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static bool event[2];   // under the lock
static bool killed;     // core 1 is held in reset by a soft reset; under the lock
static bool has_thread; // a thread stands for core 1, running or at rest
static pthread_t core1;
static __thread int core_num = 0;

void nlr_pop(void) {
    chip_nlr = NULL;
}

void __sev(void) {
    pthread_mutex_lock(&lock);
    event[0] = event[1] = true;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

void __wfe(void) {
    pthread_mutex_lock(&lock);
    while (!event[core_num] && !(core_num == 1 && killed)) {
        pthread_cond_wait(&changed, &lock);
    }
    bool dies = core_num == 1 && killed;
    event[core_num] = false;
    pthread_mutex_unlock(&lock);
    if (dies) {
        pthread_exit(NULL);
    }
}

static void *core1_wrapper(void *arg) {
    core_num = 1;
    core1_entry(arg);
    __atomic_store_n(&core1_entry, NULL, __ATOMIC_RELEASE);
    return NULL;
}

// The core has to be at rest, except in a soft reset.
void multicore_reset_core1(void) {
    chip_resets++;
    assert(killed || __atomic_load_n(&core1_entry, __ATOMIC_ACQUIRE) == NULL);
    if (has_thread) {
        pthread_join(core1, NULL);
        has_thread = false;
    }
}

uintptr_t mp_thread_create(core_entry_func_t entry, void *arg, size_t *stack_size) {
    assert(core1_entry == NULL && *stack_size >= 2048);
    core1_entry = entry; // before it asks for memory, as the port does
    if (chip_no_memory) {
        chip_no_memory = false;
        longjmp(chip_nlr->place, 1);
    }
    if (has_thread) {
        pthread_join(core1, NULL);
    }
    has_thread = pthread_create(&core1, NULL, core1_wrapper, arg) == 0;
    assert(has_thread);
    return 2;
}

// mp_thread_deinit(); the finalisers come after it.
void chip_soft_reset(void) {
    pthread_mutex_lock(&lock);
    killed = true;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    multicore_reset_core1();
    core1_entry = NULL;
    killed = false;
}
