// A signal that comes when a wait is just over, and turns out to have been over for nothing, still interrupts it.
#include "check.h"

#include <pthread.h>

static int bytes[2], orders[2];
static pthread_t readers[2];
static int handled; /* counted by whoever runs the handler */

static void note(int signal)
{
    (void)signal;
    __atomic_fetch_add(&handled, 1, __ATOMIC_SEQ_CST);
}

/* Two of these are woken by one byte; who finds it gone goes on waiting. */
static void *reader(void *unused)
{
    char byte;
    ssize_t got = read(bytes[0], &byte, 1);

    (void)unused;
    CHECK(got == 1 || (got == -1 && errno == EINTR));
    return NULL;
}

/* Woken together with the readers, and before them. */
static void *sender(void *unused)
{
    char byte;

    (void)unused;
    CHECK(read(orders[0], &byte, 1) == 1);
    for (int i = 0; i < 2; i++)
        pthread_kill(readers[i], SIGUSR1);
    return NULL;
}

int main(void)
{
    const struct sigaction action = {.sa_handler = note};
    pthread_t other;

    CHECK(pipe(bytes) == 0 && pipe(orders) == 0 && sigaction(SIGUSR1, &action, NULL) == 0);
    CHECK(pthread_create(&other, NULL, sender, NULL) == 0);
    for (int i = 0; i < 2; i++)
        CHECK(pthread_create(&readers[i], NULL, reader, NULL) == 0);
    CHECK(usleep(50000) == 0);
    CHECK(write(bytes[1], "x", 1) == 1 && write(orders[1], "x", 1) == 1);
    CHECK(pthread_join(other, NULL) == 0);
    for (int i = 0; i < 2; i++)
        CHECK(pthread_join(readers[i], NULL) == 0);
    CHECK(handled >= 1); /* natively a reader may be gone before its signal comes */
    return succeed();
}
