// A POSIX message queue: a receive waits for another process's message, and a timed one gives up.
#include "check.h"

#include <mqueue.h>

int main(void)
{
    struct mq_attr attributes = {.mq_maxmsg = 2, .mq_msgsize = 16};
    int64_t start_ns = now_ns();
    struct timespec deadline;
    char name[40], text[16];
    mqd_t queue;
    pid_t child;

    snprintf(name, sizeof name, "/parity-%d", getpid());
    queue = mq_open(name, O_CREAT | O_EXCL | O_RDWR, 0600, &attributes);
    CHECK(queue != (mqd_t)-1 && mq_unlink(name) == 0);
    deadline = timespec_from(clock_ns(CLOCK_REALTIME) + 20 * MS);
    CHECK_ERRNO(mq_timedreceive(queue, text, sizeof text, NULL, &deadline), ETIMEDOUT);
    CHECK_ELAPSED(start_ns, 20);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        sleep_ms(20);
        _exit(mq_send(queue, "hello", 6, 0));
    }
    CHECK(mq_receive(queue, text, sizeof text, NULL) == 6 && strcmp(text, "hello") == 0);
    CHECK_ELAPSED(start_ns, 40);
    CHECK_CHILD(child);
    return succeed();
}
