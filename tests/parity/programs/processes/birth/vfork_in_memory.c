// vfork: the child runs in its parent's memory and on its parent's stack; it may sleep, fail to exec, crash, and be stopped short,
// and each time the parent goes on with its registers and its alternate stack. Spawning leaves no mapping behind.
#include "check.h"

#include <spawn.h>

extern char **environ;
static volatile int stored;

static int mappings(void)
{
    int count = 0;
    char buffer[4096];
    int file = open("/proc/self/maps", O_RDONLY);
    ssize_t size;

    CHECK(file >= 0);
    while ((size = read(file, buffer, sizeof buffer)) > 0)
        for (ssize_t i = 0; i < size; i++)
            count += buffer[i] == '\n';
    close(file);
    return count;
}

static int status_of(pid_t child)
{
    int status;

    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    return status;
}

static void spawn_true(void)
{
    char *arguments[] = {"true", NULL};
    pid_t child;

    CHECK(posix_spawn(&child, "/bin/true", NULL, NULL, arguments, environ) == 0);
    CHECK(status_of(child) == 0);
}

int main(void)
{
    static char alternate[65536];
    stack_t stack = {.ss_sp = alternate, .ss_size = sizeof alternate}, now;
    int64_t start_ns = now_ns();
    pid_t parent = getpid(), child;
    int before, status;

    CHECK(sigaltstack(&stack, NULL) == 0);
    child = vfork();
    if (child == 0) {
        struct timespec pause = {.tv_nsec = 20 * MS};

        nanosleep(&pause, NULL);
        stored = getppid() == parent && getpid() != parent ? 1 : -1;
        execl("/does/not/exist", "nothing", NULL);
        stored += errno == ENOENT ? 1 : -1;
        execl("/bin/sh", "sh", "-c", "exit 5", NULL);
        _exit(127);
    }
    CHECK(stored == 2);
    CHECK(WEXITSTATUS(status_of(child)) == 5);
    CHECK_ELAPSED(start_ns, 20);
    CHECK(sigaltstack(NULL, &now) == 0 && now.ss_sp == alternate);

    child = vfork();
    if (child == 0) {
        stored = 3;
        *(volatile int *)8 = 1; /* dies without a word */
    }
    status = status_of(child);
    CHECK(stored == 3 && WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);

    child = vfork();
    if (child == 0)
        kill(getpid(), SIGKILL);
    status = status_of(child);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);

    spawn_true();
    before = mappings();
    for (int i = 0; i < 20; i++)
        spawn_true();
    CHECK(mappings() < before + 10); // emulated, rewriting a hot instruction divides some, once (csrc/shim/entry/hot_site.c)
    return succeed();
}
