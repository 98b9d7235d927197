// The second core of a PC: a POSIX thread. Any thread may call these functions.
#define _POSIX_C_SOURCE 200112L

#include "parallel.h"

#include <pthread.h>
#include <signal.h>
#include <stddef.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t to_worker = PTHREAD_COND_INITIALIZER;
static pthread_cond_t to_callers = PTHREAD_COND_INITIALIZER;
static pthread_t thread;

// Under the lock. A job is TAKEN until its caller has seen that the worker is done with it.
static enum {
    NONE,
    IDLE,
    GIVEN,
    TAKEN,
    LEAVING
} state = NONE;
static bool done;
static tti_work_t current_work;
static const void *current_job;

static void *worker(void *unused) {
    pthread_mutex_lock(&lock);
    while (state != LEAVING) {
        if (state != GIVEN) {
            pthread_cond_wait(&to_worker, &lock);
            continue;
        }
        state = TAKEN;
        tti_work_t work = current_work;
        const void *job = current_job;
        pthread_mutex_unlock(&lock);
        work(job, 1);
        pthread_mutex_lock(&lock);
        done = true;
        pthread_cond_broadcast(&to_callers);
    }
    pthread_mutex_unlock(&lock);
    return unused;
}

// Signals are for the threads that run Python.
static bool create(void) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = pthread_create(&thread, NULL, worker, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failed == 0;
}

bool tti_parallel_start(void) {
    pthread_mutex_lock(&lock);
    while (state == LEAVING) {
        pthread_cond_wait(&to_callers, &lock);
    }
    if (state == NONE && create()) {
        state = IDLE;
    }
    bool runs = state != NONE;
    pthread_mutex_unlock(&lock);
    return runs;
}

void tti_parallel_stop(void) {
    pthread_mutex_lock(&lock);
    while (state != NONE && state != IDLE) {
        pthread_cond_wait(&to_callers, &lock);
    }
    if (state == IDLE) {
        state = LEAVING;
        pthread_cond_signal(&to_worker);
        pthread_mutex_unlock(&lock);
        pthread_join(thread, NULL);
        pthread_mutex_lock(&lock);
        state = NONE;
        pthread_cond_broadcast(&to_callers);
    }
    pthread_mutex_unlock(&lock);
}

bool tti_parallel_run(tti_work_t work, const void *job) {
    pthread_mutex_lock(&lock);
    if (state != IDLE) {
        pthread_mutex_unlock(&lock);
        return false;
    }
    state = GIVEN;
    done = false;
    current_work = work;
    current_job = job;
    pthread_cond_signal(&to_worker);
    pthread_mutex_unlock(&lock);
    work(job, 0);
    pthread_mutex_lock(&lock);
    while (!done) {
        pthread_cond_wait(&to_callers, &lock);
    }
    state = IDLE;
    pthread_cond_broadcast(&to_callers);
    pthread_mutex_unlock(&lock);
    return true;
}
