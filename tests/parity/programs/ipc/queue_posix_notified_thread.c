// A POSIX message queue that asks for a thread starts it when a message comes into the empty queue.
#include "check.h"

#include <mqueue.h>
#include <semaphore.h>

static sem_t started;

static void in_thread(union sigval value)
{
    CHECK(value.sival_int == 42);
    CHECK(sem_post(&started) == 0);
}

int main(void)
{
    struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = in_thread, .sigev_value.sival_int = 42};
    struct mq_attr attributes = {.mq_maxmsg = 2, .mq_msgsize = 16};
    int64_t start_ns = now_ns();
    char name[40];
    mqd_t queue;
    pid_t child;

    snprintf(name, sizeof name, "/parity-%d", getpid());
    queue = mq_open(name, O_CREAT | O_EXCL | O_RDWR, 0600, &attributes);
    CHECK(queue != (mqd_t)-1 && mq_unlink(name) == 0 && sem_init(&started, 0, 0) == 0);
    CHECK(mq_notify(queue, &event) == 0);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        sleep_ms(20);
        _exit(mq_send(queue, "hello", 6, 0));
    }
    CHECK(sem_wait(&started) == 0);
    CHECK_ELAPSED(start_ns, 20);
    CHECK_CHILD(child);
    return succeed();
}
