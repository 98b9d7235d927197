// One core.
#include "parallel.h"

bool tti_parallel_start(void) {
    return false;
}

void tti_parallel_stop(void) {
}

bool tti_parallel_run(tti_work_t work, const void *job) {
    (void)work;
    (void)job;
    return false;
}
