// A process-shared semaphore works between processes that have changed their root to an empty directory.
#include "check.h"

#include <semaphore.h>
#include <sys/mman.h>

int main(void)
{
    sem_t *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int64_t start_ns = now_ns();
    pid_t child;

    CHECK(shared != MAP_FAILED && sem_init(shared, 1, 0) == 0 && mkdir("empty", 0700) == 0);
    if (getuid() == 0)
        CHECK(chroot("empty") == 0 && chdir("/") == 0 && access("/proc", F_OK) != 0);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        sleep_ms(20);
        _exit(sem_post(shared));
    }
    CHECK(sem_wait(shared) == 0);
    CHECK_ELAPSED(start_ns, 20);
    CHECK_CHILD(child);
    return succeed();
}
