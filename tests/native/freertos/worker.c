// parallel_freertos.c on the chip of chip.c, under ThreadSanitizer.
#include "check.h"
#include "chip.h"
#include "parallel.h"

#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#define CELLS    100
#define PRIORITY 1

typedef struct {
    int (*cells)[CELLS];
    int number;
} sums_t;

static int runs = 0;

static void fill(const void *job, int part) {
    const sums_t *s = job;
    for (int i = 0; i < CELLS; i++) {
        CHECK(chip_cache_is_on()); // the weights are in flash
        s->cells[part][i] = s->number + part;
    }
}

static void fill_slowly(const void *job, int part) {
    usleep(part == 1 ? 300 : 0);
    fill(job, part);
}

static void check_run(tti_work_t work, int n) {
    int cells[2][CELLS];
    sums_t job = {cells, n};
    CHECK(tti_parallel_run(work, &job));
    runs++;
    for (int i = 0; i < CELLS; i++) {
        CHECK(cells[0][i] == n && cells[1][i] == n + 1);
    }
}

static void check_runs(int times) {
    for (int n = 1; n <= times; n++) {
        check_run(fill, n);
    }
}

// Whatever runs Python code while an op is computed, it finds the worker busy.
static void interrupted(const void *job, int part) {
    if (part == 0) {
        CHECK(!tti_parallel_run(fill, job));
    }
    fill(job, part);
}

static void check_refuses(void) {
    int cells[2][CELLS];
    sums_t job = {cells, 5};
    CHECK(!tti_parallel_run(fill, &job));
}

static void test_no_memory(void) {
    chip_no_memory = true;
    CHECK(!tti_parallel_start() && chip_tasks == 0);
    check_refuses();
    tti_parallel_stop();
}

static void test_one_worker(void) {
    check_refuses();
    CHECK(tti_parallel_start() && tti_parallel_start() && chip_tasks == 1);
    check_runs(500);
    check_run(interrupted, 7);
    check_runs(1);
    tti_parallel_stop();
    tti_parallel_stop();
    check_refuses();
}

// Both sides sleep while they have nothing to do: they wait once for each job.
static void test_nobody_waits_busily(void) {
    CHECK(tti_parallel_start());
    check_runs(1);
    usleep(20000); // for the worker to fall asleep
    int before = chip_waits;
    for (int n = 1; n <= 50; n++) {
        check_run(fill_slowly, n);
    }
    usleep(20000);
    CHECK(chip_waits == before + 2 * 50);
    tti_parallel_stop();
}

// Python stops in the middle of a picture; a finaliser ends what had the worker.
static void test_soft_reset(void) {
    CHECK(tti_parallel_start());
    check_runs(10);
    tti_parallel_stop();
    CHECK(tti_parallel_start());
    check_runs(10);
    tti_parallel_stop();
}

static void test_files_are_saved_between_two_stages(void) {
    CHECK(tti_parallel_start());
    for (int n = 1; n <= 50; n++) {
        check_run(fill_slowly, n);
        chip_write_flash();
    }
    tti_parallel_stop();
}

// A thread of the user's draws and ends.
static void *user_thread(void *unused) {
    chip_adopt(PRIORITY);
    CHECK(tti_parallel_start());
    check_runs(5);
    tti_parallel_stop();
    chip_end();
    return unused;
}

static void test_threads_of_the_user(void) {
    for (int i = 0; i < 50; i++) {
        pthread_t thread;
        CHECK(pthread_create(&thread, NULL, user_thread, NULL) == 0);
        CHECK(pthread_join(thread, NULL) == 0);
        CHECK(tti_parallel_start());
        check_runs(2);
        tti_parallel_stop();
    }
}

// Interrupts wake MicroPython's task by notification 0 at any moment, while it waits for the
// worker as well.
typedef struct {
    TaskHandle_t task;
    bool ends;
} bell_t;

static void *ring(void *bell) {
    bell_t *b = bell;
    while (!__atomic_load_n(&b->ends, __ATOMIC_ACQUIRE)) {
        xTaskNotifyGiveIndexed(b->task, 0);
        usleep(50);
    }
    return NULL;
}

static void test_wakes_for_others(void) {
    bell_t bell = {xTaskGetCurrentTaskHandle(), false};
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, ring, &bell) == 0);
    CHECK(tti_parallel_start());
    for (int n = 1; n <= 200; n++) {
        check_run(fill_slowly, n);
    }
    __atomic_store_n(&bell.ends, true, __ATOMIC_RELEASE);
    CHECK(pthread_join(thread, NULL) == 0);
    ulTaskNotifyTakeIndexed(0, pdTRUE, portMAX_DELAY);
    xTaskNotifyGiveIndexed(bell.task, 0);
    check_runs(3);
    CHECK(ulTaskNotifyTakeIndexed(0, pdTRUE, portMAX_DELAY) == 1); // it is still there
    tti_parallel_stop();
}

static void test_the_only_core(void) {
    CHECK(!tti_parallel_start());
    check_refuses();
    tti_parallel_stop();
}

int main(void) {
    chip_adopt(PRIORITY);
    if (CONFIG_FREERTOS_UNICORE) {
        test_the_only_core();
    } else {
        test_no_memory();
        test_one_worker();
        test_nobody_waits_busily();
        test_soft_reset();
        test_files_are_saved_between_two_stages();
        test_threads_of_the_user();
        test_wakes_for_others();
        for (int i = 0; i < 300; i++) {
            CHECK(tti_parallel_start());
            check_runs(i % 3);
            tti_parallel_stop();
        }
    }
    printf("%d tasks, %d jobs\n", chip_tasks, runs);
    return 0;
}
