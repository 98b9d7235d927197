// What parallel_freertos.c needs of ESP-IDF's FreeRTOS, on a PC: a task is a thread, and core 0 is
// the one that is created. chip.c has the behaviour.
#ifndef CHIP_H
#define CHIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// FreeRTOSConfig.h, by way of sdkconfig.h.
#ifndef CONFIG_FREERTOS_TASK_NOTIFICATION_ARRAY_ENTRIES
#define CONFIG_FREERTOS_TASK_NOTIFICATION_ARRAY_ENTRIES 2
#endif
#ifndef CONFIG_FREERTOS_UNICORE
#define CONFIG_FREERTOS_UNICORE 0
#endif
#define configTASK_NOTIFICATION_ARRAY_ENTRIES CONFIG_FREERTOS_TASK_NOTIFICATION_ARRAY_ENTRIES

typedef struct chip_task *TaskHandle_t;
typedef void (*TaskFunction_t)(void *);
typedef int BaseType_t;
typedef unsigned UBaseType_t;
typedef uint32_t TickType_t;

#define pdTRUE        ((BaseType_t)1)
#define pdPASS        ((BaseType_t)1)
#define portMAX_DELAY ((TickType_t)0xffffffffUL)

BaseType_t xTaskCreatePinnedToCore(TaskFunction_t code, const char *name, uint32_t stack_bytes,
                                   void *argument, UBaseType_t priority, TaskHandle_t *created,
                                   BaseType_t core);
TaskHandle_t xTaskGetCurrentTaskHandle(void);
UBaseType_t uxTaskPriorityGet(TaskHandle_t task); // NULL: of the caller
BaseType_t xTaskNotifyGiveIndexed(TaskHandle_t task, UBaseType_t index);
uint32_t ulTaskNotifyTakeIndexed(UBaseType_t index, BaseType_t clear, TickType_t ticks);

// For the tests.
extern bool chip_no_memory;            // the next task finds no memory for its stack
extern int chip_tasks;                 // created so far
extern int chip_waits;                 // that blocked, of the calling thread and of the worker
void chip_adopt(UBaseType_t priority); // makes the calling thread a task
void chip_end(void);                   // deletes the calling thread's task
bool chip_cache_is_on(void);
void chip_write_flash(void); // with the cache off meanwhile

#endif
