// main ends by pthread_exit; the process lives until its last thread, whose exit status counts.
#include "check.h"

#include <pthread.h>

static pthread_t main_thread;

static void *last(void *unused)
{
    CHECK(pthread_join(main_thread, NULL) == 0);
    sleep_ms(20);
    succeed();
    return unused;
}

int main(void)
{
    pthread_t thread;

    main_thread = pthread_self();
    CHECK(pthread_create(&thread, NULL, last, NULL) == 0);
    sleep_ms(10);
    pthread_exit(NULL);
}
