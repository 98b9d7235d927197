// The second core: a worker that computes one part of an op while the caller computes the other.
//
// Each kind of chip has one implementation, a file parallel_<name>.c that the build picks by
// TTI_PARALLEL=<name>: none (the default), unix (a thread), rp2 (core 1 of an RP2350), freertos (a
// task on core 0 of an ESP32-S3).
//
// The worker runs kernels: it touches no Python object, allocates nothing and raises nothing.
// While there is nothing to do it sleeps.
#ifndef TTI_PARALLEL_H
#define TTI_PARALLEL_H

#include <stdbool.h>

// Does part 0 or part 1 of a job; the two run at the same time and write different bytes.
typedef void (*tti_work_t)(const void *job, int part);

// Starts the worker, or finds it running. False if there is no second core, or others have it.
bool tti_parallel_start(void);
// Stops the worker, if it runs, and gives the core back.
void tti_parallel_stop(void);
// Does both parts, part 1 on the worker, and returns when both are done. False, and nothing is
// done, if there is no worker or it is busy with another caller's job.
bool tti_parallel_run(tti_work_t work, const void *job);

#endif
