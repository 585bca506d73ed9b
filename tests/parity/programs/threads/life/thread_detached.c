// A detached thread works on by itself; nobody can join it.
#include "check.h"

#include <pthread.h>
#include <semaphore.h>

static sem_t done;

static void *worker(void *unused)
{
    CHECK(pthread_detach(pthread_self()) == 0);
    sleep_ms(20);
    CHECK(sem_post(&done) == 0);
    return unused;
}

int main(void)
{
    int64_t start_ns = now_ns();
    pthread_attr_t attributes;
    pthread_t thread;

    CHECK(sem_init(&done, 0, 0) == 0);
    CHECK(pthread_create(&thread, NULL, worker, NULL) == 0);
    CHECK(sem_wait(&done) == 0);
    CHECK_ELAPSED(start_ns, 20);
    CHECK(pthread_attr_init(&attributes) == 0);
    CHECK(pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_JOINABLE) == 0);
    CHECK(pthread_create(&thread, &attributes, worker, NULL) == 0);
    CHECK(sem_wait(&done) == 0);
    CHECK_ELAPSED(start_ns, 40);
    return succeed();
}
