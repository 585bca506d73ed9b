// Threads that sleep, wait with and without a deadline, wake each other and yield, as a seed says; what each saw when is printed at the end.
// Where others run beside them (a second argument), a child process and its pipe take part.
#include "seeded.h"

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define THREADS 6
#define ROUNDS 120
#define LINES (THREADS * ROUNDS)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t conditions[3];
static sem_t tokens;
static char lines[LINES][64];
static int used;
static int pipe_ends[2];

static struct timespec after(clockid_t clock, long ns)
{
    struct timespec moment;

    clock_gettime(clock, &moment);
    moment.tv_nsec += ns;
    moment.tv_sec += moment.tv_nsec / 1000000000;
    moment.tv_nsec %= 1000000000;
    return moment;
}

static int act(unsigned kind, uint64_t *state, int piped)
{
    struct timespec moment;
    int result = 0;
    unsigned which = draw(state, 3);

    switch (kind) {
    case 0: /* deadlines that coincide, too */
        nanosleep(&(struct timespec){0, 1000000L * (1 + draw(state, 4))}, NULL);
        break;
    case 1:
        moment = after(CLOCK_REALTIME, 1000000L * (1 + draw(state, 6)));
        pthread_mutex_lock(&lock);
        result = pthread_cond_timedwait(&conditions[which], &lock, &moment);
        pthread_mutex_unlock(&lock);
        break;
    case 2:
        pthread_mutex_lock(&lock);
        pthread_cond_signal(&conditions[which]);
        pthread_mutex_unlock(&lock);
        break;
    case 3:
        pthread_cond_broadcast(&conditions[which]);
        break;
    case 4:
        sched_yield();
        break;
    case 5:
        moment = after(CLOCK_REALTIME, 1000000L * (1 + draw(state, 3)));
        result = sem_timedwait(&tokens, &moment);
        break;
    case 6:
        sem_post(&tokens);
        break;
    default:
        if (piped)
            result = (int)write(pipe_ends[1], "x", 1);
    }
    return result;
}

static void *run(void *number)
{
    uint64_t state = (uint64_t)(intptr_t)number;
    int piped = state >> 62 & 1;

    for (int round = 0; round < ROUNDS; round++) {
        unsigned kind = draw(&state, piped ? 8 : 7);
        int result = act(kind, &state, piped);
        int line = __atomic_fetch_add(&used, 1, __ATOMIC_SEQ_CST);

        snprintf(lines[line], sizeof lines[line], "%llu %u %u %d", (unsigned long long)now_ns(), (unsigned)(state & 0xff), kind, result != 0);
    }
    return NULL;
}

static void echo(void)
{
    char byte;
    int count = 0;

    while (read(pipe_ends[0], &byte, 1) == 1) {
        count++;
        usleep(1700);
    }
    fprintf(stderr, "%d bytes\n", count);
    _exit(0);
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    uint64_t seed = strtoull(argv[1], NULL, 10);
    uint64_t piped = argc > 2 ? 1ULL << 62 : 0;

    if (pipe(pipe_ends) != 0 || (piped && fork() == 0 && (close(pipe_ends[1]), 1)))
        echo();
    for (int i = 0; i < 3; i++)
        pthread_cond_init(&conditions[i], NULL);
    sem_init(&tokens, 0, 1);
    for (uint64_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, run, (void *)(piped | (seed * 1000 + i)));
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < used; i++)
        puts(lines[i]);
    return 0;
}
