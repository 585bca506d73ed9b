// After chroot into an empty directory timers, shared locks, threads and children still keep the same time.
#include "check.h"

#include <pthread.h>
#include <semaphore.h>
#include <sys/mman.h>
#include <sys/timerfd.h>

static void *sleeper(void *unused)
{
    sleep_ms(20);
    return unused;
}

int main(void)
{
    struct itimerspec once = {.it_value = {.tv_nsec = 20 * MS}};
    sem_t *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int64_t start_ns = now_ns();
    pthread_t thread;
    uint64_t count;
    pid_t child;
    int fd;

    CHECK(shared != MAP_FAILED && sem_init(shared, 1, 0) == 0 && mkdir("empty", 0700) == 0);
    if (getuid() == 0)
        CHECK(chroot("empty") == 0 && chdir("/") == 0 && access("/proc", F_OK) != 0);
    fd = timerfd_create(CLOCK_MONOTONIC, 0);
    CHECK(fd >= 0 && timerfd_settime(fd, 0, &once, NULL) == 0);
    CHECK(read(fd, &count, sizeof count) == sizeof count);
    CHECK_ELAPSED(start_ns, 20);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        sleep_ms(20);
        _exit(sem_post(shared));
    }
    CHECK(sem_wait(shared) == 0);
    CHECK_ELAPSED(start_ns, 40);
    CHECK_CHILD(child);
    CHECK(pthread_create(&thread, NULL, sleeper, NULL) == 0 && pthread_join(thread, NULL) == 0);
    CHECK_ELAPSED(start_ns, 60);
    return succeed();
}
