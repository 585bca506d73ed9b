// System V semaphores: a wait for a post by another process, and a timed one that gives up.
#include "check.h"

#include <sys/ipc.h>
#include <sys/sem.h>

int main(void)
{
    struct timespec limit = {.tv_nsec = 20 * MS};
    struct sembuf down = {.sem_op = -1};
    struct sembuf up = {.sem_op = 1};
    int64_t start_ns = now_ns();
    int set = semget(IPC_PRIVATE, 1, 0600);
    pid_t child;

    CHECK(set >= 0 && semctl(set, 0, SETVAL, 0) == 0);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        sleep_ms(50);
        _exit(semop(set, &up, 1));
    }
    CHECK_ERRNO(semtimedop(set, &down, 1, &limit), EAGAIN);
    CHECK_ELAPSED(start_ns, 20);
    CHECK(semop(set, &down, 1) == 0);
    CHECK_ELAPSED(start_ns, 50);
    CHECK(semctl(set, 0, IPC_RMID) == 0);
    CHECK_CHILD(child);
    return succeed();
}
