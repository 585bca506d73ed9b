// A POSIX message queue that asks for a signal sends it, with its value, when a message comes into the empty queue.
#include "check.h"

#include <mqueue.h>

static volatile int value;

static void handler(int number, siginfo_t *info, void *context)
{
    (void)context;
    CHECK(number == SIGUSR1 && info->si_code == SI_MESGQ);
    value = info->si_value.sival_int;
}

int main(void)
{
    struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1, .sigev_value.sival_int = 42};
    struct mq_attr attributes = {.mq_maxmsg = 2, .mq_msgsize = 16};
    int64_t start_ns = now_ns();
    char name[40], text[16];
    mqd_t queue;
    pid_t child;

    snprintf(name, sizeof name, "/parity-%d", getpid());
    queue = mq_open(name, O_CREAT | O_EXCL | O_RDWR, 0600, &attributes);
    CHECK(queue != (mqd_t)-1 && mq_unlink(name) == 0 && sigaction(SIGUSR1, &action, NULL) == 0);
    CHECK(mq_notify(queue, &event) == 0);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        CHECK_ERRNO(mq_notify(queue, &event), EBUSY);
        sleep_ms(20);
        CHECK(mq_send(queue, "one", 4, 0) == 0 && mq_send(queue, "two", 4, 0) == 0);
        sleep_ms(50);
        _exit(0);
    }
    CHECK_ERRNO(pause(), EINTR);
    CHECK_ELAPSED(start_ns, 20);
    CHECK(value == 42);
    CHECK(mq_receive(queue, text, sizeof text, NULL) == 4 && strcmp(text, "one") == 0);
    CHECK_CHILD(child);
    return succeed();
}
