/* Two processes on one core hand a turn to and fro by futex: the floor for any scheme of turns. Prints ns per round trip. */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void wait_while(int *word, int value)
{
    while (__atomic_load_n(word, __ATOMIC_ACQUIRE) == value)
        syscall(SYS_futex, word, FUTEX_WAIT, value, NULL);
}

static void set(int *word, int value)
{
    __atomic_store_n(word, value, __ATOMIC_RELEASE);
    syscall(SYS_futex, word, FUTEX_WAKE, 1);
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 100000;
    int *word = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    cpu_set_t one;
    struct timespec start, end;
    pid_t parent;

    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    sched_setaffinity(0, sizeof one, &one);
    parent = getpid();
    if (fork() == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* a child whose parent was stopped would otherwise wait for ever */
        if (getppid() != parent)
            _exit(1);
        for (int i = 0; i < rounds; i++) {
            wait_while(word, 0);
            set(word, 0);
        }
        _exit(0);
    }
    clock_gettime(CLOCK_MONOTONIC, &start);
    for (int i = 0; i < rounds; i++) {
        set(word, 1);
        wait_while(word, 1);
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    wait(NULL);
    printf("%.1f\n", ((end.tv_sec - start.tv_sec) * 1e9 + (end.tv_nsec - start.tv_nsec)) / rounds);
    return 0;
}
