// The other core of an ESP32-S3: a FreeRTOS task pinned to core 0; MicroPython's tasks are pinned
// to core 1. Pinned also because FreeRTOS saves the float and vector registers lazily.
//
// The task is made for the first picture and then kept, asleep between the jobs: a task that is
// deleted while it runs on the other core is freed there by the idle task, where MicroPython's
// hook for deleted tasks may have to wait for a lock, and the idle task must never wait. So a soft
// reset has nothing to tear down either. While flash is written, ESP-IDF halts the other core.
#include "parallel.h"

#include "freertos/FreeRTOS.h"
#include "freertos/task.h"

#if CONFIG_FREERTOS_UNICORE
#define CORES 1
#else
#define CORES 2
#endif

enum {
    WORKERS_CORE = 0,
    STACK_BYTES = 8192, // kernels take 3 KB of it; FreeRTOS saves vector and float registers there
    // MicroPython's tasks are woken by notification 0; a board's sdkconfig gives a second one.
    // With one, a caller's wait may end early, so it waits for the state.
    WAKE = configTASK_NOTIFICATION_ARRAY_ENTRIES - 1
};

// Written by one core at a time: IDLE to GIVEN by a caller, GIVEN to IDLE by the worker. Callers
// have MicroPython's lock, so there is one at a time.
enum {
    IDLE,
    GIVEN
};
static int state;
static TaskHandle_t task, caller;
static tti_work_t current_work;
static const void *current_job;
static bool started, busy;

static inline int get_state(void) {
    return __atomic_load_n(&state, __ATOMIC_ACQUIRE);
}

static inline void set_state(int to) {
    __atomic_store_n(&state, to, __ATOMIC_RELEASE);
}

static void worker(void *unused) {
    (void)unused;
    for (;;) {
        ulTaskNotifyTakeIndexed(WAKE, pdTRUE, portMAX_DELAY);
        current_work(current_job, 1);
        TaskHandle_t waits = caller; // before the caller may go on
        set_state(IDLE);
        xTaskNotifyGiveIndexed(waits, WAKE);
    }
}

// The priority is MicroPython's own: Wi-Fi and timers, which are on core 0 too, come first.
bool tti_parallel_start(void) {
    if (CORES > 1 && task == NULL &&
        xTaskCreatePinnedToCore(worker, "tti", STACK_BYTES, NULL, uxTaskPriorityGet(NULL), &task,
                                WORKERS_CORE) != pdPASS) {
        task = NULL;
    }
    started = task != NULL;
    return started;
}

void tti_parallel_stop(void) {
    started = false;
}

bool tti_parallel_run(tti_work_t work, const void *job) {
    if (!started || busy) {
        return false;
    }
    busy = true;
    current_work = work;
    current_job = job;
    caller = xTaskGetCurrentTaskHandle();
    set_state(GIVEN);
    xTaskNotifyGiveIndexed(task, WAKE);
    work(job, 0);
    // Once at least, to take what the worker gives: its caller may end right after this.
    do {
        ulTaskNotifyTakeIndexed(WAKE, pdTRUE, portMAX_DELAY);
    } while (get_state() != IDLE);
    busy = false;
    return true;
}
