// When a timed wait for a second of time() expires, time() has got there: a daemon's timer thread does not spin.
// virtual: 3
#include "check.h"

#include <pthread.h>

int main(void)
{
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t never = PTHREAD_COND_INITIALIZER;
    int rounds = 0;

    CHECK(pthread_mutex_lock(&lock) == 0);
    for (int wait = 0; wait < 3; wait++) {
        struct timespec deadline = {.tv_sec = time(NULL) + 1};
        int64_t expired_ns = 0;

        while (time(NULL) < deadline.tv_sec) {
            CHECK(pthread_cond_timedwait(&never, &lock, &deadline) == ETIMEDOUT);
            expired_ns = expired_ns != 0 ? expired_ns : now_ns();
            rounds++;
        }
        /* The kernel's own time() lags by a tick or so after the deadline. */
        CHECK(now_ns() - expired_ns <= tolerance_ns());
    }
    CHECK(!is_emulated() || rounds == 3);
    return succeed();
}
