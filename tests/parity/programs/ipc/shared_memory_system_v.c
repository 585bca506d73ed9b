// A futex in System V shared memory is one word for both processes that have attached it.
#include "check.h"

#include <linux/futex.h>
#include <sys/ipc.h>
#include <sys/shm.h>
#include <sys/syscall.h>

int main(void)
{
    int64_t start_ns = now_ns();
    int segment = shmget(IPC_PRIVATE, 4096, 0600);
    struct shmid_ds status;
    int *word;
    pid_t child;

    CHECK(segment >= 0);
    child = fork();
    CHECK(child >= 0);
    word = shmat(segment, NULL, 0);
    CHECK(word != (void *)-1);
    if (child == 0) {
        sleep_ms(30);
        *(volatile int *)word = 1;
        _exit(syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0) < 0);
    }
    while (*(volatile int *)word == 0)
        CHECK(syscall(SYS_futex, word, FUTEX_WAIT, 0, NULL, NULL, 0) == 0 || errno == EAGAIN);
    CHECK_ELAPSED(start_ns, 30);
    CHECK_CHILD(child);
    CHECK(shmctl(segment, IPC_STAT, &status) == 0 && status.shm_nattch == 1);
    CHECK(shmdt(word) == 0 && shmctl(segment, IPC_RMID, NULL) == 0);
    return succeed();
}
