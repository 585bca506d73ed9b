// After chroot into an empty directory sleeps, threads, children and pipes still keep the same time.
#include "check.h"

#include <pthread.h>

static void *sleeper(void *unused)
{
    sleep_ms(20);
    return unused;
}

int main(void)
{
    int64_t start_ns = now_ns();
    pthread_t thread;
    int ends[2];
    char byte;
    pid_t child;

    CHECK(mkdir("empty", 0700) == 0 && pipe(ends) == 0);
    if (getuid() == 0)
        CHECK(chroot("empty") == 0 && chdir("/") == 0 && access("/proc", F_OK) != 0);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        sleep_ms(20);
        _exit(write(ends[1], "x", 1) != 1);
    }
    CHECK(read(ends[0], &byte, 1) == 1);
    CHECK_ELAPSED(start_ns, 20);
    CHECK_CHILD(child);
    CHECK(pthread_create(&thread, NULL, sleeper, NULL) == 0 && pthread_join(thread, NULL) == 0);
    CHECK_ELAPSED(start_ns, 40);
    return succeed();
}
