// parallel_rp2.c on the chip of chip.c, under ThreadSanitizer.
#include "check.h"
#include "chip.h"
#include "parallel.h"

#include <stdio.h>

#define CELLS 100

typedef struct {
    int (*cells)[CELLS];
    int number;
} sums_t;

static void fill(const void *job, int part) {
    const sums_t *s = job;
    for (int i = 0; i < CELLS; i++) {
        s->cells[part][i] = s->number + part;
    }
}

static void check_runs(int times) {
    int cells[2][CELLS];
    for (int n = 1; n <= times; n++) {
        sums_t job = {cells, n};
        CHECK(tti_parallel_run(fill, &job));
        for (int i = 0; i < CELLS; i++) {
            CHECK(cells[0][i] == n && cells[1][i] == n + 1);
        }
    }
}

// An interrupt handler that calls an op while core 0 computes its part of another one.
static void interrupted(const void *job, int part) {
    if (part == 0) {
        CHECK(!tti_parallel_run(fill, job));
    }
    fill(job, part);
}

static void *of_user(void *arg) {
    return arg;
}

static void test_one_worker(void) {
    int cells[2][CELLS];
    sums_t job = {cells, 5};
    CHECK(!tti_parallel_run(fill, &job));
    CHECK(tti_parallel_start() && tti_parallel_start());
    check_runs(500);
    CHECK(tti_parallel_run(interrupted, &job) && cells[1][CELLS - 1] == 6);
    check_runs(1);
    tti_parallel_stop();
    CHECK(core1_entry == NULL && chip_resets == 1);
    tti_parallel_stop();
    CHECK(chip_resets == 1 && !tti_parallel_run(fill, &job));
}

static void test_the_core_is_taken(void) {
    int cells[2][CELLS];
    sums_t job = {cells, 5};
    core1_entry = of_user;
    CHECK(!tti_parallel_start() && !tti_parallel_run(fill, &job));
    tti_parallel_stop();
    CHECK(core1_entry == of_user && chip_resets == 1);
    core1_entry = NULL;
}

static void test_no_memory(void) {
    chip_no_memory = true;
    CHECK(!tti_parallel_start() && core1_entry == NULL);
    CHECK(tti_parallel_start());
    check_runs(10);
    tti_parallel_stop();
}

static void test_soft_reset(void) {
    CHECK(tti_parallel_start());
    check_runs(10);
    chip_soft_reset();
    tti_parallel_stop(); // by a finaliser
    CHECK(tti_parallel_start());
    check_runs(10);
    tti_parallel_stop();
}

int main(void) {
    test_one_worker();
    test_the_core_is_taken();
    test_no_memory();
    test_soft_reset();
    for (int i = 0; i < 300; i++) {
        CHECK(tti_parallel_start());
        check_runs(i % 3);
        tti_parallel_stop();
    }
    printf("%d resets\n", chip_resets);
    return 0;
}
