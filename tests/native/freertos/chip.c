#include "chip.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ENTRIES configTASK_NOTIFICATION_ARRAY_ENTRIES

struct chip_task {
    uint32_t notified[ENTRIES];
    UBaseType_t priority;
    BaseType_t core;
    TaskFunction_t code;
    void *argument;
};

bool chip_no_memory = false;
int chip_tasks = 0;
int chip_waits = 0;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static bool cache_off = false;
static __thread TaskHandle_t current = NULL;

static void *run_task(void *task) {
    current = task;
    current->code(current->argument);
    abort(); // a task must not return
}

static TaskHandle_t new_task(UBaseType_t priority, BaseType_t core) {
    TaskHandle_t task = calloc(1, sizeof(*task));
    assert(task != NULL);
    task->priority = priority;
    task->core = core;
    return task;
}

BaseType_t xTaskCreatePinnedToCore(TaskFunction_t code, const char *name, uint32_t stack_bytes,
                                   void *argument, UBaseType_t priority, TaskHandle_t *created,
                                   BaseType_t core) {
    assert(current->core == 1 && core == 0);
    assert(strlen(name) < 16 && stack_bytes >= 4096 && stack_bytes % 16 == 0);
    if (chip_no_memory) {
        chip_no_memory = false;
        return -1;
    }
    TaskHandle_t task = new_task(priority, core);
    task->code = code;
    task->argument = argument;
    *created = task;
    chip_tasks++;
    pthread_t thread;
    assert(pthread_create(&thread, NULL, run_task, task) == 0);
    assert(pthread_detach(thread) == 0);
    return pdPASS;
}

TaskHandle_t xTaskGetCurrentTaskHandle(void) {
    return current;
}

UBaseType_t uxTaskPriorityGet(TaskHandle_t task) {
    return (task == NULL ? current : task)->priority;
}

BaseType_t xTaskNotifyGiveIndexed(TaskHandle_t task, UBaseType_t index) {
    assert(index < ENTRIES);
    pthread_mutex_lock(&lock);
    task->notified[index]++;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    return pdPASS;
}

uint32_t ulTaskNotifyTakeIndexed(UBaseType_t index, BaseType_t clear, TickType_t ticks) {
    assert(index < ENTRIES && clear == pdTRUE && ticks == portMAX_DELAY);
    pthread_mutex_lock(&lock);
    chip_waits++;
    while (current->notified[index] == 0) {
        pthread_cond_wait(&changed, &lock);
    }
    uint32_t value = current->notified[index];
    current->notified[index] = 0;
    pthread_mutex_unlock(&lock);
    return value;
}

void chip_adopt(UBaseType_t priority) {
    current = new_task(priority, 1);
}

void chip_end(void) {
    free(current);
    current = NULL;
}

bool chip_cache_is_on(void) {
    return !__atomic_load_n(&cache_off, __ATOMIC_ACQUIRE);
}

void chip_write_flash(void) {
    __atomic_store_n(&cache_off, true, __ATOMIC_RELEASE);
    usleep(200);
    __atomic_store_n(&cache_off, false, __ATOMIC_RELEASE);
}
