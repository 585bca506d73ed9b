// A robust process-shared mutex whose owner is killed goes to the waiter, with EOWNERDEAD.
#include "check.h"

#include <pthread.h>
#include <sys/mman.h>

int main(void)
{
    int64_t start_ns = now_ns();
    pthread_mutex_t *lock = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pthread_mutexattr_t attributes;
    pid_t child;

    CHECK(lock != MAP_FAILED && pthread_mutexattr_init(&attributes) == 0);
    CHECK(pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED) == 0);
    CHECK(pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST) == 0);
    CHECK(pthread_mutex_init(lock, &attributes) == 0);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        CHECK(pthread_mutex_lock(lock) == 0);
        sleep_ms(40);
        kill(getpid(), SIGKILL);
    }
    sleep_ms(20);
    CHECK(pthread_mutex_lock(lock) == EOWNERDEAD);
    CHECK_ELAPSED(start_ns, 40);
    CHECK(pthread_mutex_consistent(lock) == 0 && pthread_mutex_unlock(lock) == 0);
    CHECK(waitpid(child, NULL, 0) == child);
    return succeed();
}
