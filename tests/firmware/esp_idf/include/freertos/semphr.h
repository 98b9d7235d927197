// As far as MicroPython's headers need it.
typedef struct chip_semaphore *SemaphoreHandle_t;
typedef int StaticSemaphore_t;
