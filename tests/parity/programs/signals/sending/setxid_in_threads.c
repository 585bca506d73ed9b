// setresuid in a threaded program is passed by signal to every thread, whatever it waits for; none is disturbed.
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
    CHECK(pthread_mutex_lock(&lock) == 0);
    return unused;
}

static void *sleeper(void *unused)
{
    struct timespec left = timespec_from(50 * MS);

    CHECK(nanosleep(&left, &left) == 0 || errno == EINTR);
    return unused;
}

int main(void)
{
    void *(*const bodies[])(void *) = {reader, locker, sleeper};
    pthread_t threads[3];

    CHECK(pipe(ends) == 0 && pthread_mutex_lock(&lock) == 0);
    for (int i = 0; i < 3; i++)
        CHECK(pthread_create(&threads[i], NULL, bodies[i], NULL) == 0);
    sleep_ms(20);
    CHECK(setresuid(getuid(), geteuid(), -1) == 0);
    CHECK(setresgid(getgid(), getegid(), -1) == 0);
    CHECK(write(ends[1], "x", 1) == 1 && pthread_mutex_unlock(&lock) == 0);
    for (int i = 0; i < 3; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    return succeed();
}
