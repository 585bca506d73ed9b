// In an IPC namespace System V objects and POSIX message queues are others than outside, though numbered alike.
#include "namespaces.h"

#include <sys/ipc.h>
#include <sys/sem.h>
#include <sys/shm.h>

#define KEY 0x51ab

static void wait_for_own(int set)
{
    struct sembuf down = {.sem_op = -1}, up = {.sem_op = 1};
    pid_t child = fork();

    CHECK(child >= 0);
    if (child == 0) {
        sleep_ms(50);
        _exit(semop(set, &up, 1));
    }
    CHECK(semop(set, &down, 1) == 0);
    CHECK_CHILD(child);
}

int main(void)
{
    int set = semget(KEY, 1, IPC_CREAT | 0600);
    int segment = shmget(KEY, 4096, IPC_CREAT | 0600);
    pid_t child;

    CHECK(set >= 0 && segment >= 0);
    child = birth(needed_flags() | CLONE_NEWIPC);
    CHECK(child >= 0);
    if (child == 0) {
        int own;

        CHECK_ERRNO(semget(KEY, 1, 0), ENOENT);
        CHECK_ERRNO(shmget(KEY, 4096, 0), ENOENT);
        CHECK((own = semget(KEY, 1, IPC_CREAT | 0600)) >= 0);
        wait_for_own(own);
        _exit(0);
    }
    wait_for_own(set);
    CHECK_CHILD(child);
    CHECK(semctl(set, 0, IPC_RMID) == 0 && shmctl(segment, IPC_RMID, NULL) == 0);
    return succeed();
}
