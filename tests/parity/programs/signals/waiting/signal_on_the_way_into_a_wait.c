// A signal that comes when a thread is on its way into a call that waits, held up there by what is due just then, is not lost.
#include "check.h"

#include <pthread.h>
#include <semaphore.h>

#define ROUNDS 200

static sem_t signalled, answered;
static int over;

static void note(int signal)
{
    (void)signal;
    sem_post(&signalled);
}

static void calls(int count)
{
    while (count-- > 0)
        CHECK(write(STDOUT_FILENO, "", 0) >= 0);
}

/* Makes something due all the time. */
static void *ticker(void *unused)
{
    const struct timespec tick = {.tv_nsec = 1300};

    (void)unused;
    while (!__atomic_load_n(&over, __ATOMIC_SEQ_CST))
        nanosleep(&tick, NULL);
    return NULL;
}

/* Only the handler lets it go on. */
static void *target(void *unused)
{
    (void)unused;
    for (int round = 0; round < ROUNDS; round++) {
        calls(round % 17);
        while (sem_wait(&signalled) != 0)
            CHECK(errno == EINTR);
        sem_post(&answered);
    }
    return NULL;
}

int main(void)
{
    const struct sigaction action = {.sa_handler = note};
    pthread_t thread, clock;

    CHECK(sem_init(&signalled, 0, 0) == 0 && sem_init(&answered, 0, 0) == 0 && sigaction(SIGUSR1, &action, NULL) == 0);
    CHECK(pthread_create(&clock, NULL, ticker, NULL) == 0);
    CHECK(pthread_create(&thread, NULL, target, NULL) == 0);
    for (int round = 0; round < ROUNDS; round++) {
        calls(round % 13);
        CHECK(pthread_kill(thread, SIGUSR1) == 0);
        while (sem_wait(&answered) != 0)
            CHECK(errno == EINTR);
    }
    __atomic_store_n(&over, 1, __ATOMIC_SEQ_CST);
    CHECK(pthread_join(thread, NULL) == 0 && pthread_join(clock, NULL) == 0);
    return succeed();
}
