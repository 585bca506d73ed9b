// One signal wakes one waiter; the condition's mutex is held on return.
#include "check.h"

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static int items, taken;

static void *consumer(void *unused)
{
    CHECK(pthread_mutex_lock(&lock) == 0);
    while (items == 0)
        CHECK(pthread_cond_wait(&filled, &lock) == 0);
    items--;
    taken++;
    CHECK(pthread_mutex_unlock(&lock) == 0);
    return unused;
}

int main(void)
{
    pthread_t threads[3];

    for (int i = 0; i < 3; i++)
        CHECK(pthread_create(&threads[i], NULL, consumer, NULL) == 0);
    for (int i = 0; i < 3; i++) {
        sleep_ms(10);
        CHECK(pthread_mutex_lock(&lock) == 0);
        CHECK(taken == i && items == 0);
        items++;
        CHECK(pthread_cond_signal(&filled) == 0);
        CHECK(pthread_mutex_unlock(&lock) == 0);
    }
    for (int i = 0; i < 3; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(taken == 3);
    return succeed();
}
