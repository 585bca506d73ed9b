// exit() ends all threads, whatever they wait for; the status is the one given.
#include "check.h"

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int ends[2];

static void *reader(void *unused)
{
    char byte;

    CHECK(read(ends[0], &byte, 1) == 1);
    return unused;
}

static void *locker(void *unused)
{
    pthread_mutex_lock(&lock);
    return unused;
}

static void *sleeper(void *unused)
{
    sleep_ms(1000000);
    return unused;
}

int main(void)
{
    int64_t start_ns = now_ns();
    pthread_t thread;
    int status;
    pid_t child = fork();

    CHECK(child >= 0);
    if (child == 0) {
        CHECK(pipe(ends) == 0 && pthread_mutex_lock(&lock) == 0);
        CHECK(pthread_create(&thread, NULL, reader, NULL) == 0);
        CHECK(pthread_create(&thread, NULL, locker, NULL) == 0);
        CHECK(pthread_create(&thread, NULL, sleeper, NULL) == 0);
        sleep_ms(20);
        exit(12);
    }
    CHECK(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 12);
    CHECK_ELAPSED(start_ns, 20);
    return succeed();
}
