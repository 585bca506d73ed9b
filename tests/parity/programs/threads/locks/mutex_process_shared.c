// A mutex and a condition in shared memory work between parent and child.
#include "check.h"

#include <pthread.h>
#include <sys/mman.h>

struct shared {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int state;
};

int main(void)
{
    int64_t start_ns = now_ns();
    struct shared *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pthread_mutexattr_t mutex_attributes;
    pthread_condattr_t cond_attributes;
    pid_t child;

    CHECK(shared != MAP_FAILED);
    CHECK(pthread_mutexattr_init(&mutex_attributes) == 0 && pthread_condattr_init(&cond_attributes) == 0);
    CHECK(pthread_mutexattr_setpshared(&mutex_attributes, PTHREAD_PROCESS_SHARED) == 0);
    CHECK(pthread_condattr_setpshared(&cond_attributes, PTHREAD_PROCESS_SHARED) == 0);
    CHECK(pthread_mutex_init(&shared->lock, &mutex_attributes) == 0);
    CHECK(pthread_cond_init(&shared->changed, &cond_attributes) == 0);
    child = fork();
    CHECK(child >= 0);
    CHECK(pthread_mutex_lock(&shared->lock) == 0);
    for (int turn = 0; turn < 20; turn++) {
        while (shared->state % 2 != (child == 0))
            CHECK(pthread_cond_wait(&shared->changed, &shared->lock) == 0);
        sleep_ms(1);
        shared->state++;
        CHECK(pthread_cond_broadcast(&shared->changed) == 0);
    }
    CHECK(pthread_mutex_unlock(&shared->lock) == 0);
    if (child == 0)
        _exit(0);
    CHECK_CHILD(child);
    CHECK(shared->state == 40);
    CHECK(now_ns() - start_ns >= 40 * MS);
    return succeed();
}
