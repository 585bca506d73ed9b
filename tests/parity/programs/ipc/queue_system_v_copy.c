// msgrcv with MSG_COPY never waits: it is refused without IPC_NOWAIT. A signal ends a wait, a removal ends it with EIDRM.
#include "check.h"

#include <sys/msg.h>

static void ignore(int signal)
{
    (void)signal;
}

/* A child that waits for a message, restarting or not; its exit status is the errno. */
static pid_t start_receiver(int queue)
{
    struct sigaction action = {.sa_handler = ignore, .sa_flags = SA_RESTART};
    pid_t child = fork();

    if (child == 0) {
        struct msgbuf message;

        CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
        _exit(msgrcv(queue, &message, 1, 7, 0) < 0 ? errno : 0);
    }
    sleep_ms(20);
    return child;
}

int main(void)
{
    int queue = msgget(IPC_PRIVATE, 0600);
    struct msgbuf message = {1, "x"};
    pid_t child;
    int status;

    CHECK(queue >= 0);
    CHECK_ERRNO(msgrcv(queue, &message, 1, 0, MSG_COPY), EINVAL);
    CHECK_ERRNO(msgrcv(queue, &message, 1, 0, MSG_COPY | IPC_NOWAIT), ENOMSG);
    child = start_receiver(queue);
    CHECK(kill(child, SIGUSR1) == 0);
    CHECK(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == EINTR);
    child = start_receiver(queue);
    CHECK(msgctl(queue, IPC_RMID, NULL) == 0);
    CHECK(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == EIDRM);
    CHECK_ERRNO(msgsnd(queue, &message, 1, 0), EINVAL);
    return succeed();
}
