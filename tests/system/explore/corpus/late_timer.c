/* A timer that fires while it is being cancelled: its thread frees what the canceller frees as well. Mended: one of them takes
 * it out first, atomically. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

static void *_Atomic request;

static void finish(void)
{
#ifdef MENDED
    free(atomic_exchange(&request, NULL));
#else
    void *it = request;

    if (it == NULL)
        return;
    getppid();
    request = NULL;
    free(it);
#endif
}

static void *timer(void *argument)
{
    usleep(1000);
    finish();
    return argument;
}

int main(void)
{
    pthread_t thread;

    request = malloc(24);
    pthread_create(&thread, NULL, timer, NULL);
    usleep(1000);
    finish();
    pthread_join(thread, NULL);
    return 0;
}
