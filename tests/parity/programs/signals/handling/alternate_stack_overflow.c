// A stack overflow is caught on the alternate stack: in main and in threads, each on its own, time and again.
// musl: no (musl checks sigaltstack by itself)
#include "check.h"

#include <pthread.h>
#include <setjmp.h>
#include <sys/resource.h>

#define SIZE 32768
#define THREADS 3

static __thread sigjmp_buf home;
static __thread char *stack;
static __thread int caught;

static void handler(int number, siginfo_t *info, void *context)
{
    char here;
    stack_t now;

    CHECK(number == SIGSEGV && info->si_code > 0 && context != NULL);
    CHECK(&here >= stack && &here < stack + SIZE);
    CHECK(sigaltstack(NULL, &now) == 0 && now.ss_flags == SS_ONSTACK && now.ss_sp == stack);
    CHECK_ERRNO(sigaltstack(&now, NULL), EPERM);
    caught++;
    siglongjmp(home, 1);
}

static volatile char never;

static int overflow(volatile char *above)
{
    volatile char here[4096];

    here[0] = above[0];
    if (never)
        return 0;
    return overflow(here) + here[0];
}

static void overflow_twice(void)
{
    stack_t wanted = {.ss_size = SIZE};
    stack_t off = {.ss_flags = SS_DISABLE};
    volatile char first = 1;

    wanted.ss_sp = stack = malloc(SIZE);
    caught = 0;
    CHECK(stack != NULL && sigaltstack(&wanted, NULL) == 0);
    for (int i = 0; i < 2; i++)
        if (sigsetjmp(home, 1) == 0)
            overflow(&first);
    CHECK(caught == 2);
    CHECK(sigaltstack(&off, NULL) == 0);
    free(stack);
}

static void *run(void *unused)
{
    stack_t now;

    CHECK(sigaltstack(NULL, &now) == 0 && now.ss_flags == SS_DISABLE); /* not the creator's */
    overflow_twice();
    return unused;
}

int main(void)
{
    struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    struct rlimit limit = {1 << 20, 1 << 20};
    pthread_t threads[THREADS];
    int status;
    pid_t child;

    CHECK(setrlimit(RLIMIT_STACK, &limit) == 0);
    CHECK(sigaction(SIGSEGV, &action, NULL) == 0);
    overflow_twice();
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, run, NULL) == 0);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    child = fork();
    if (child == 0) { /* without the alternate stack there is no room for the handler */
        volatile char first = 1;
        struct rlimit none = {0, 0};

        setrlimit(RLIMIT_CORE, &none);
        _exit(overflow(&first));
    }
    CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
    return succeed();
}
