// Producer and consumer over a queue of one, five hundred items.
#include "check.h"

#include <pthread.h>

enum { ITEMS = 500 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int slot = -1;

static void *producer(void *unused)
{
    for (int i = 0; i < ITEMS; i++) {
        CHECK(pthread_mutex_lock(&lock) == 0);
        while (slot != -1)
            CHECK(pthread_cond_wait(&changed, &lock) == 0);
        slot = i;
        CHECK(pthread_cond_signal(&changed) == 0);
        CHECK(pthread_mutex_unlock(&lock) == 0);
    }
    return unused;
}

int main(void)
{
    pthread_t thread;

    CHECK(pthread_create(&thread, NULL, producer, NULL) == 0);
    for (int i = 0; i < ITEMS; i++) {
        CHECK(pthread_mutex_lock(&lock) == 0);
        while (slot == -1)
            CHECK(pthread_cond_wait(&changed, &lock) == 0);
        CHECK(slot == i);
        slot = -1;
        CHECK(pthread_cond_signal(&changed) == 0);
        CHECK(pthread_mutex_unlock(&lock) == 0);
    }
    CHECK(pthread_join(thread, NULL) == 0);
    return succeed();
}
