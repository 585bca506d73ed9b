// timer_create with SIGEV_THREAD calls its function in a thread, at each expiry.
#include "check.h"

#include <semaphore.h>

static sem_t rung;

static void ring(union sigval value)
{
    CHECK(value.sival_int == 6);
    CHECK(sem_post(&rung) == 0);
}

int main(void)
{
    struct sigevent event = {
        .sigev_notify = SIGEV_THREAD, .sigev_notify_function = ring, .sigev_value.sival_int = 6};
    struct itimerspec every = {.it_value = {.tv_nsec = 20 * MS}, .it_interval = {.tv_nsec = 20 * MS}};
    int64_t start_ns = now_ns();
    timer_t timer;

    CHECK(sem_init(&rung, 0, 0) == 0);
    CHECK(timer_create(CLOCK_REALTIME, &event, &timer) == 0);
    CHECK(timer_settime(timer, 0, &every, NULL) == 0);
    for (int i = 1; i <= 3; i++) {
        CHECK(sem_wait(&rung) == 0);
        CHECK_ELAPSED(start_ns, 20 * i);
    }
    CHECK(timer_delete(timer) == 0);
    return succeed();
}
