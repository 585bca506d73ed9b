// A barrier lets nobody through before the last has come; one of them is told to be the serial one.
#include "check.h"

#include <pthread.h>

static pthread_barrier_t barrier;
static int64_t start_ns;

static void *runner(void *argument)
{
    int *delay_ms = argument;

    sleep_ms(*delay_ms);
    *delay_ms = pthread_barrier_wait(&barrier);
    CHECK_ELAPSED(start_ns, 40);
    return NULL;
}

int main(void)
{
    int delays_ms[4] = {10, 40, 20, 30};
    pthread_t threads[4];
    int serial = 0;

    start_ns = now_ns();
    CHECK(pthread_barrier_init(&barrier, NULL, 4) == 0);
    for (int i = 0; i < 4; i++)
        CHECK(pthread_create(&threads[i], NULL, runner, &delays_ms[i]) == 0);
    for (int i = 0; i < 4; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
        serial += delays_ms[i] == PTHREAD_BARRIER_SERIAL_THREAD;
        CHECK(delays_ms[i] == 0 || delays_ms[i] == PTHREAD_BARRIER_SERIAL_THREAD);
    }
    CHECK(serial == 1);
    return succeed();
}
