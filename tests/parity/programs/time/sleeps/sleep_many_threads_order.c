// Threads that sleep for different times wake in the order of their deadlines.
#include "check.h"

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int order[5];
static int woken;

static void *sleeper(void *argument)
{
    int rank = *(int *)argument;

    sleep_ms(30 * (5 - rank));
    CHECK(pthread_mutex_lock(&lock) == 0);
    order[woken++] = rank;
    CHECK(pthread_mutex_unlock(&lock) == 0);
    return NULL;
}

int main(void)
{
    int ranks[5] = {0, 1, 2, 3, 4};
    pthread_t threads[5];

    for (int i = 0; i < 5; i++)
        CHECK(pthread_create(&threads[i], NULL, sleeper, &ranks[i]) == 0);
    for (int i = 0; i < 5; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    for (int i = 0; i < 5; i++)
        CHECK(order[i] == 4 - i);
    return succeed();
}
