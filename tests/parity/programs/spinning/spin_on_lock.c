// A tight loop of trylock, and one of flock with LOCK_NB, end when the holder lets go.
#include "check.h"

#include <pthread.h>
#include <sched.h>
#include <sys/file.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both; /* a busy computer may start the holder late */

static void *holder(void *unused)
{
    int fd = open("lock", O_CREAT | O_RDWR, 0600);

    CHECK(fd >= 0 && flock(fd, LOCK_EX) == 0 && pthread_mutex_lock(&lock) == 0);
    pthread_barrier_wait(&both);
    sleep_ms(4);
    CHECK(pthread_mutex_unlock(&lock) == 0);
    sleep_ms(2);
    CHECK(close(fd) == 0);
    return unused;
}

int main(void)
{
    int64_t start_ns = now_ns();
    pthread_t thread;
    int fd = open("lock", O_CREAT | O_RDWR, 0600);

    CHECK(pthread_barrier_init(&both, NULL, 2) == 0);
    CHECK(pthread_create(&thread, NULL, holder, NULL) == 0);
    pthread_barrier_wait(&both);
    sleep_ms(2);
    while (pthread_mutex_trylock(&lock) == EBUSY)
        sched_yield();
    CHECK_ELAPSED(start_ns, 4);
    while (flock(fd, LOCK_EX | LOCK_NB) != 0)
        CHECK(errno == EWOULDBLOCK);
    CHECK_ELAPSED(start_ns, 6);
    CHECK(pthread_join(thread, NULL) == 0);
    return succeed();
}
