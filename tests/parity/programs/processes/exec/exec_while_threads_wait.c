// An exec, from any thread, ends all others wherever they wait; the new image has the process's pid and its own clean state.
#include "check.h"

#include <pthread.h>
#include <sys/syscall.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int ends[2];

static void *in_read(void *unused)
{
    char byte;

    CHECK(read(ends[0], &byte, 1) == -2);
    return unused;
}

static void *in_lock(void *unused)
{
    pthread_mutex_lock(&lock);
    return unused;
}

static void *in_sleep(void *unused)
{
    sleep_ms(3600 * 1000);
    return unused;
}

static void *executes(void *program)
{
    char pid[20];

    sleep_ms(10);
    snprintf(pid, sizeof pid, "%d", (int)getpid());
    execl(program, program, pid, (char *)NULL);
    CHECK(0);
    return NULL;
}

int main(int argc, char **argv)
{
    void *(*const waits[])(void *) = {in_read, in_lock, in_sleep};
    pthread_t thread;

    if (argc > 1) {
        CHECK(atoi(argv[1]) == getpid() && syscall(SYS_gettid) == getpid());
        sleep_ms(10);
        return succeed();
    }
    CHECK(pipe2(ends, O_CLOEXEC) == 0 && pthread_mutex_lock(&lock) == 0);
    for (size_t i = 0; i < sizeof waits / sizeof *waits; i++)
        CHECK(pthread_create(&thread, NULL, waits[i], NULL) == 0);
    CHECK(pthread_create(&thread, NULL, executes, argv[0]) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    return 1;
}
