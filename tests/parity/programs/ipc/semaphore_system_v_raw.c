// The semop system call itself, which libc no longer uses, waits until the value is zero.
#include "check.h"

#include <sys/ipc.h>
#include <sys/sem.h>
#include <sys/syscall.h>

int main(void)
{
    struct sembuf zero = {.sem_op = 0};
    struct sembuf down = {.sem_op = -1};
    int64_t start_ns = now_ns();
    int set = semget(IPC_PRIVATE, 1, 0600);
    pid_t child;

    CHECK(set >= 0 && semctl(set, 0, SETVAL, 1) == 0);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        sleep_ms(30);
        _exit(syscall(SYS_semop, set, &down, 1) != 0);
    }
    CHECK(syscall(SYS_semop, set, &zero, 1) == 0);
    CHECK_ELAPSED(start_ns, 30);
    CHECK(semctl(set, 0, IPC_RMID) == 0);
    CHECK_CHILD(child);
    return succeed();
}
