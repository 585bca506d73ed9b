// Who waits for a System V semaphore or queue that is removed, or whose wait a signal ends, is told so.
#include "check.h"

#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>

static void handler(int number)
{
    CHECK(number == SIGALRM);
}

int main(void)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
    struct sembuf down = {.sem_op = -1};
    struct { long type; char text[8]; } message;
    int64_t start_ns = now_ns();
    int set = semget(IPC_PRIVATE, 1, 0600), queue = msgget(IPC_PRIVATE, 0600);
    pid_t child;

    CHECK(set >= 0 && queue >= 0 && semctl(set, 0, SETVAL, 0) == 0);
    CHECK(sigaction(SIGALRM, &action, NULL) == 0);
    ualarm(20000, 0);
    CHECK_ERRNO(semop(set, &down, 1), EINTR);
    ualarm(20000, 0);
    CHECK_ERRNO(msgrcv(queue, &message, sizeof message.text, 0, 0), EINTR);
    CHECK_ELAPSED(start_ns, 40);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        sleep_ms(20);
        CHECK(semctl(set, 0, IPC_RMID) == 0);
        sleep_ms(20);
        _exit(msgctl(queue, IPC_RMID, NULL));
    }
    CHECK_ERRNO(semop(set, &down, 1), EIDRM);
    CHECK_ELAPSED(start_ns, 60);
    CHECK_ERRNO(msgrcv(queue, &message, sizeof message.text, 0, 0), EIDRM);
    CHECK_ELAPSED(start_ns, 80);
    CHECK_CHILD(child);
    return succeed();
}
