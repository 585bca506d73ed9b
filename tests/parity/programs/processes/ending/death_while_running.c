// A process that kills itself between two calls, or while it is born, is dead at once and seen by its parent.
#include "death.h"

static void by_kill(void)
{
    kill(getpid(), SIGKILL);
}

static void by_wild_pointer(void)
{
    *(volatile int *)NULL = 1;
}

static void by_wild_jump(void)
{
    ((void (*)(void))1)();
}

static void by_abort(void)
{
    abort();
}

static volatile int depth;

static void by_full_stack(void)
{
    volatile char many[1 << 16];

    many[0] = 1;
    if (depth++ >= 0)
        by_full_stack();
    many[1] = many[0];
}

static void by_child(void)
{
    pid_t parent = getpid();

    if (fork() == 0)
        _exit(kill(parent, SIGKILL));
    pause();
}

static void by_vfork_child(void)
{
    pid_t parent = getpid();

    if (vfork() == 0)
        _exit(kill(parent, SIGKILL));
    pause();
}

static const struct {
    void (*die)(void);
    int number;
} ways[] = {
    {by_kill, SIGKILL},        {by_wild_pointer, SIGSEGV}, {by_wild_jump, SIGSEGV},   {by_abort, SIGABRT},
    {by_full_stack, SIGSEGV},  {by_child, SIGKILL},        {by_vfork_child, SIGKILL},
};

int main(void)
{
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        int64_t start_ns = now_ns();
        int status = 0;
        pid_t child = fork();

        CHECK(child >= 0);
        if (child == 0) {
            ways[i].die();
            _exit(100);
        }
        CHECK(waitpid(child, &status, 0) == child);
        if (!WIFSIGNALED(status) || WTERMSIG(status) != ways[i].number)
            dprintf(2, "way %zu: wait status %#x\n", i, status);
        CHECK(WIFSIGNALED(status) && WTERMSIG(status) == ways[i].number);
        CHECK_ELAPSED(start_ns, 0);
    }
    return succeed();
}
