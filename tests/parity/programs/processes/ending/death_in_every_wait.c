// Who is killed while it waits, in whatever call, is dead at once, and its parent is told how; twice, by two signals.
#include "death.h"

static void die(int state, int number)
{
    int64_t start_ns = now_ns();
    int status = 0;
    pid_t child = fork();

    CHECK(child >= 0);
    if (child == 0) {
        states[state]();
        _exit(100);
    }
    sleep_ms(20);
    CHECK(kill(child, number) == 0);
    if (states[state] == in_stop && number != SIGKILL)
        CHECK(kill(child, SIGCONT) == 0);
    CHECK(waitpid(child, &status, 0) == child);
    if (!WIFSIGNALED(status) || WTERMSIG(status) != number)
        dprintf(2, "state %d: wait status %#x\n", state, status);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == number);
    CHECK_ELAPSED(start_ns, 20);
}

int main(void)
{
    for (int state = 0; state < STATES; state++) {
        die(state, SIGKILL);
        if (states[state] != in_vfork) /* SIGSEGV waits until the child has let go */
            die(state, SIGSEGV);
    }
    return succeed();
}
