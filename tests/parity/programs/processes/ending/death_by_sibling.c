// A thread ends its process by exit_group, by a wild pointer or by abort, in whatever call its sibling waits.
// native: slow
#include "death.h"

#include <sys/resource.h>

static int how;

static void *killer(void *unused)
{
    sleep_ms(20);
    if (how == 0)
        _exit(7);
    if (how == 1)
        *(volatile int *)unused = 1;
    abort();
}

static void die(int state)
{
    static const int signals[] = {0, SIGSEGV, SIGABRT};
    int64_t start_ns = now_ns();
    int status = 0;
    pid_t child = fork();

    CHECK(child >= 0);
    if (child == 0) {
        struct rlimit none = {0, 0};
        pthread_t thread;

        CHECK(setrlimit(RLIMIT_CORE, &none) == 0);
        CHECK(pthread_create(&thread, NULL, killer, NULL) == 0);
        states[state]();
        _exit(100);
    }
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(how == 0 ? status == 7 << 8 : WIFSIGNALED(status) && WTERMSIG(status) == signals[how]);
    CHECK_ELAPSED(start_ns, 20);
}

int main(void)
{
    for (int state = 0; state < STATES; state++)
        for (how = 0; how < 3; how++) /* a stop holds all threads, an exec ends the others */
            if (states[state] != in_stop && states[state] != in_new_image)
                die(state);
    return succeed();
}
