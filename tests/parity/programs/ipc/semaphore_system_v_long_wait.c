// A System V semaphore posted after seven and a half seconds is taken at that moment.
// virtual: 7.5
#include "check.h"

#include <sys/ipc.h>
#include <sys/sem.h>

int main(void)
{
    struct sembuf down = {.sem_op = -1};
    struct sembuf up = {.sem_op = 1};
    int64_t start_ns = now_ns();
    int set = semget(IPC_PRIVATE, 1, 0600);
    pid_t child;

    CHECK(set >= 0 && semctl(set, 0, SETVAL, 0) == 0);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        sleep_ms(7500);
        _exit(semop(set, &up, 1));
    }
    CHECK(semop(set, &down, 1) == 0);
    CHECK_ELAPSED(start_ns, 7500);
    CHECK(semctl(set, 0, IPC_RMID) == 0);
    CHECK_CHILD(child);
    return succeed();
}
