// Each thread has its own __thread variables, specific data and errno; destructors run at its end.
#include "check.h"

#include <pthread.h>

static __thread int own = 5;
static pthread_key_t key;
static int destroyed;

static void destroy(void *value)
{
    destroyed += *(int *)value;
}

static void *worker(void *argument)
{
    CHECK(own == 5);
    own = *(int *)argument;
    CHECK(pthread_setspecific(key, argument) == 0);
    CHECK(close(-own) == -1 && errno == EBADF);
    sleep_ms(10);
    CHECK(own == *(int *)argument && errno == EBADF);
    return NULL;
}

int main(void)
{
    int values[2] = {10, 100};
    pthread_t threads[2];

    errno = 0;
    CHECK(pthread_key_create(&key, destroy) == 0);
    for (int i = 0; i < 2; i++)
        CHECK(pthread_create(&threads[i], NULL, worker, &values[i]) == 0);
    for (int i = 0; i < 2; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(own == 5 && errno == 0 && destroyed == 110);
    return succeed();
}
