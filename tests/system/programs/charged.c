/* Computes, alone and in threads, and says how long that took by the clock, in microseconds; sleeps in between. */
#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static long now_us(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000 + time.tv_nsec / 1000;
}

static void compute(void)
{
    volatile unsigned long sum = 0;

    for (unsigned long i = 0; i < 5000000; i++)
        sum += i;
}

static void *thread(void *nothing)
{
    (void)nothing;
    compute();
    return NULL;
}

int main(void)
{
    pthread_t threads[4];
    long begun = now_us();

    compute();
    printf("alone %ld\n", now_us() - begun);
    begun = now_us();
    usleep(10000);
    printf("asleep %ld\n", now_us() - begun);
    begun = now_us();
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, thread, NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    printf("together %ld\n", now_us() - begun);
    return 0;
}
