// Recursive and error-checking mutexes keep their rules.
#include "check.h"

#include <pthread.h>

static pthread_mutex_t recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_mutex_t checking = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;

static void *stranger(void *unused)
{
    CHECK(pthread_mutex_trylock(&recursive) == EBUSY);
    CHECK(pthread_mutex_unlock(&checking) == EPERM);
    CHECK(pthread_mutex_lock(&recursive) == 0);
    return unused;
}

int main(void)
{
    int64_t start_ns = now_ns();
    pthread_t thread;

    CHECK(pthread_mutex_lock(&recursive) == 0 && pthread_mutex_lock(&recursive) == 0);
    CHECK(pthread_mutex_lock(&checking) == 0 && pthread_mutex_lock(&checking) == EDEADLK);
    CHECK(pthread_create(&thread, NULL, stranger, NULL) == 0);
    sleep_ms(20);
    CHECK(pthread_mutex_unlock(&recursive) == 0 && pthread_mutex_unlock(&recursive) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK_ELAPSED(start_ns, 20);
    return succeed();
}
