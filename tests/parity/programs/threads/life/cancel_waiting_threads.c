// Threads that wait in read, pthread_cond_wait, nanosleep, poll, sem_wait and accept can be cancelled.
#include "inet.h"

#include <poll.h>
#include <pthread.h>
#include <semaphore.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static int ends[2];
static int cleaned;

static void unlock(void *mutex)
{
    cleaned++;
    CHECK(pthread_mutex_unlock(mutex) == 0);
}

static void *wait_read(void *unused) { read(ends[0], &ends[1], 1); return unused; }
static void *wait_sleep(void *unused) { sleep(1000); return unused; }
static void *wait_poll(void *unused) { poll(NULL, 0, -1); return unused; }
static void *wait_accept(void *unused) { accept(listening_socket(5), NULL, NULL); return unused; }

static void *wait_cond(void *unused)
{
    pthread_mutex_lock(&lock);
    pthread_cleanup_push(unlock, &lock);
    pthread_cond_wait(&never, &lock);
    pthread_cleanup_pop(1);
    return unused;
}

static void *wait_semaphore(void *unused)
{
    sem_t semaphore;

    sem_init(&semaphore, 0, 0);
    sem_wait(&semaphore);
    return unused;
}

int main(void)
{
    void *(*const waits[])(void *) = {wait_read, wait_sleep, wait_poll, wait_accept, wait_cond, wait_semaphore};
    int64_t start_ns = now_ns();

    CHECK(pipe(ends) == 0);
    for (size_t i = 0; i < sizeof waits / sizeof *waits; i++) {
        pthread_t thread;
        void *result;

        CHECK(pthread_create(&thread, NULL, waits[i], NULL) == 0);
        sleep_ms(5);
        CHECK(pthread_cancel(thread) == 0);
        CHECK(pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED);
    }
    CHECK(cleaned == 1);
    CHECK_ELAPSED(start_ns, 30);
    return succeed();
}
