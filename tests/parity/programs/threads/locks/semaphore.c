// Semaphores: counting, waiting, trying, giving up at a deadline; named ones between processes.
#include "check.h"

#include <semaphore.h>

int main(void)
{
    int64_t start_ns = now_ns();
    struct timespec deadline = timespec_from(clock_ns(CLOCK_REALTIME) + 20 * MS);
    char name[40];
    sem_t own, *named;
    pid_t child;

    CHECK(sem_init(&own, 0, 1) == 0 && sem_wait(&own) == 0);
    CHECK_ERRNO(sem_trywait(&own), EAGAIN);
    CHECK_ERRNO(sem_timedwait(&own, &deadline), ETIMEDOUT);
    CHECK_ELAPSED(start_ns, 20);
    snprintf(name, sizeof name, "/parity-%d", getpid());
    named = sem_open(name, O_CREAT | O_EXCL, 0600, 0);
    CHECK(named != SEM_FAILED && sem_unlink(name) == 0);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        sleep_ms(20);
        _exit(sem_post(named));
    }
    CHECK(sem_wait(named) == 0);
    CHECK_ELAPSED(start_ns, 40);
    CHECK_CHILD(child);
    return succeed();
}
