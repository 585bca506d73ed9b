// A program that gives up root still has timers, shared locks, children and new programs in the same time.
#include "check.h"

#include <grp.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/mman.h>
#include <sys/timerfd.h>

static void drop_root(void)
{
    if (getuid() != 0)
        return;
    if (setresgid(65534, 65534, 65534) != 0) { /* a user's own namespace has no other user */
        CHECK(errno == EINVAL);
        CHECK_ERRNO(setresuid(65534, 65534, 65534), EINVAL);
        return;
    }
    CHECK(setgroups(0, NULL) == 0 && setresuid(65534, 65534, 65534) == 0);
    CHECK(geteuid() == 65534);
}

int main(void)
{
    struct itimerspec once = {.it_value = {.tv_nsec = 20 * MS}};
    sem_t *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int64_t start_ns = now_ns();
    uint64_t count;
    pid_t child;
    int fd;

    CHECK(shared != MAP_FAILED && sem_init(shared, 1, 0) == 0);
    drop_root();
    fd = timerfd_create(CLOCK_MONOTONIC, 0);
    CHECK(fd >= 0 && timerfd_settime(fd, 0, &once, NULL) == 0);
    CHECK(read(fd, &count, sizeof count) == sizeof count);
    CHECK_ELAPSED(start_ns, 20);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        sleep_ms(20);
        CHECK(sem_post(shared) == 0);
        execl("/bin/sleep", "sleep", "0.02", NULL);
        _exit(127);
    }
    CHECK(sem_wait(shared) == 0);
    CHECK_ELAPSED(start_ns, 40);
    CHECK_CHILD(child);
    CHECK_ELAPSED(start_ns, 60);
    return succeed();
}
