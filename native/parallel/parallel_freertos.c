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

#if configTASK_NOTIFICATION_ARRAY_ENTRIES < 2
#error                                                                                            \
    "MicroPython's tasks are woken by notification 0: give tasks a second one, in the board's \
sdkconfig by CONFIG_FREERTOS_TASK_NOTIFICATION_ARRAY_ENTRIES=2"
#endif

enum {
    WORKERS_CORE = 0,
    STACK_BYTES = 8192, // kernels take 3 KB of it; FreeRTOS saves vector and float registers there
    WAKE = 1            // the notification; nobody else gives it
};

// Notifications hand these over. Callers have MicroPython's lock, so there is one at a time.
static TaskHandle_t task, caller;
static tti_work_t current_work;
static const void *current_job;
static bool started, busy;

static void worker(void *unused) {
    (void)unused;
    for (;;) {
        ulTaskNotifyTakeIndexed(WAKE, pdTRUE, portMAX_DELAY);
        current_work(current_job, 1);
        xTaskNotifyGiveIndexed(caller, WAKE);
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
    xTaskNotifyGiveIndexed(task, WAKE);
    work(job, 0);
    ulTaskNotifyTakeIndexed(WAKE, pdTRUE, portMAX_DELAY);
    busy = false;
    return true;
}
