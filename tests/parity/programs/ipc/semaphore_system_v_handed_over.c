// A System V semaphore goes to who has waited longest, even if whoever posts it wants it back at once; a death undoes.
#include "check.h"

#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/sem.h>

int main(void)
{
    struct sembuf down = {.sem_op = -1, .sem_flg = SEM_UNDO};
    struct sembuf up = {.sem_op = 1, .sem_flg = SEM_UNDO};
    int set = semget(IPC_PRIVATE, 1, 0600);
    int64_t start_ns = now_ns();
    volatile int *turns = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t child;

    CHECK(set >= 0 && turns != MAP_FAILED && semctl(set, 0, SETVAL, 1) == 0 && semop(set, &down, 1) == 0);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        CHECK(semop(set, &down, 1) == 0);
        *turns = 1;
        sleep_ms(20);
        raise(SIGKILL);
    }
    sleep_ms(20);
    CHECK(semop(set, &up, 1) == 0);
    CHECK(semop(set, &down, 1) == 0);
    CHECK(*turns == 1);
    CHECK_ELAPSED(start_ns, 40);
    CHECK(waitpid(child, NULL, 0) == child && semctl(set, 0, IPC_RMID) == 0);
    return succeed();
}
