// GETNCNT and GETZCNT tell how many wait for a semaphore to grow, or to become zero.
#include "check.h"

#include <sys/ipc.h>
#include <sys/sem.h>

static int set;

static pid_t waiting(unsigned short semaphore, short change)
{
    struct sembuf operation = {semaphore, change, 0};
    pid_t child = fork();

    CHECK(child >= 0);
    if (child == 0) {
        CHECK(semop(set, &operation, 1) == 0);
        _exit(0);
    }
    return child;
}

static void counts(int semaphore, int growing, int zero)
{
    CHECK(semctl(set, semaphore, GETNCNT) == growing && semctl(set, semaphore, GETZCNT) == zero);
}

int main(void)
{
    pid_t children[4];

    set = semget(IPC_PRIVATE, 2, 0600);
    CHECK(set >= 0 && semctl(set, 1, SETVAL, 1) == 0);
    counts(0, 0, 0);
    children[0] = waiting(0, -1);
    children[1] = waiting(0, -2);
    children[2] = waiting(1, 0);
    children[3] = waiting(1, -2);
    sleep_ms(50);
    counts(0, 2, 0);
    counts(1, 1, 1);
    CHECK(semctl(set, 0, SETVAL, 1) == 0);
    CHECK_CHILD(children[0]);
    sleep_ms(10);
    counts(0, 1, 0);
    CHECK(semctl(set, 1, SETVAL, 0) == 0);
    CHECK_CHILD(children[2]);
    counts(1, 1, 0);
    CHECK(kill(children[3], SIGKILL) == 0 && waitpid(children[3], NULL, 0) == children[3]);
    counts(1, 0, 0);
    CHECK(semctl(set, 0, SETVAL, 2) == 0);
    CHECK_CHILD(children[1]);
    CHECK_ERRNO(semctl(set, 5, GETNCNT), EINVAL);
    CHECK(semctl(set, 0, IPC_RMID) == 0);
    return succeed();
}
