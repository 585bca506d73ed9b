// Processes of two threads each that sleep, wait with a deadline and wake each other, as a seed says; who did what when stands in memory
// that all share, in the order in which it happened, and is printed at the end. With a second argument one of them writes to a pipe that
// another one reads, and one is killed in the middle.
#include "seeded.h"

#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PROCESSES 6
#define THREADS 2
#define ROUNDS 60

struct line {
    uint64_t now_ns;
    int process;
    int thread;
    unsigned kind;
    int result;
};

struct log {
    int used;
    struct line lines[(PROCESSES + 1) * THREADS * ROUNDS];
};

static struct log *book;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int pipe_ends[2];
static int me;
static int piped;
static uint64_t seed;

/* At a whole millisecond, so that deadlines of several processes coincide. */
static void sleep_until(uint64_t ns)
{
    struct timespec moment = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};

    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &moment, NULL);
}

static int wait_at_most(unsigned ms)
{
    struct timespec moment;
    int result;

    clock_gettime(CLOCK_REALTIME, &moment);
    moment.tv_nsec += 1000000L * ms;
    moment.tv_sec += moment.tv_nsec / 1000000000;
    moment.tv_nsec %= 1000000000;
    pthread_mutex_lock(&lock);
    result = pthread_cond_timedwait(&condition, &lock, &moment);
    pthread_mutex_unlock(&lock);
    return result;
}

static int act(unsigned kind, uint64_t *state)
{
    switch (kind) {
    case 0:
        sleep_until((now_ns() / 1000000 + 1 + draw(state, 5)) * 1000000);
        return 0;
    case 1:
        return wait_at_most(1 + draw(state, 7));
    case 2:
        return pthread_cond_broadcast(&condition);
    case 3:
        return nanosleep(&(struct timespec){0, 100000L * (1 + draw(state, 90))}, NULL);
    default:
        return piped && me == 1 ? (int)write(pipe_ends[1], "x", 1) : 0;
    }
}

static void *run(void *number)
{
    uint64_t state = seed * 1000 + (uint64_t)me * 10 + (uint64_t)(intptr_t)number;

    for (int round = 0; round < ROUNDS; round++) {
        unsigned kind = draw(&state, 5);
        int result = act(kind, &state);

        book->lines[__atomic_fetch_add(&book->used, 1, __ATOMIC_SEQ_CST)] =
            (struct line){now_ns(), me, (int)(intptr_t)number, kind, result};
    }
    return NULL;
}

static void work(void)
{
    pthread_t threads[THREADS];

    for (intptr_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, run, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    _exit(0);
}

static void listen_to_pipe(void)
{
    char byte;

    close(pipe_ends[1]);
    while (read(pipe_ends[0], &byte, 1) == 1)
        usleep(1300);
    _exit(0);
}

int main(int argc, char **argv)
{
    pid_t victim = 0;

    seed = strtoull(argv[1], NULL, 10);
    piped = argc > 2;
    book = mmap(NULL, sizeof *book, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (book == MAP_FAILED || pipe(pipe_ends) != 0)
        return 1;
    if (piped && fork() == 0)
        listen_to_pipe();
    for (me = 0; me < PROCESSES; me++) {
        pid_t child = fork();

        if (child == 0)
            work();
        if (me == 3)
            victim = child;
    }
    close(pipe_ends[1]);
    usleep(50000);
    if (piped)
        kill(victim, SIGKILL);
    while (wait(NULL) > 0)
        continue;
    for (int i = 0; i < book->used; i++)
        printf("%llu %d.%d %u %d\n", (unsigned long long)book->lines[i].now_ns, book->lines[i].process, book->lines[i].thread,
               book->lines[i].kind, book->lines[i].result);
    return 0;
}
