// Each thread has processors of its own: they are inherited by threads, children and new images, and set from outside, too.
#include "check.h"

#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>

static int allowed; /* a processor that this process may use, and not the first */

static int count_of(pid_t thread, int *first)
{
    cpu_set_t set;

    CHECK(sched_getaffinity(thread, sizeof set, &set) == 0);
    for (*first = 0; !CPU_ISSET(*first, &set); (*first)++)
        ;
    return CPU_COUNT(&set);
}

static void bind_to(pid_t thread, int cpu)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    CHECK(sched_setaffinity(thread, sizeof set, &set) == 0);
}

static void *run(void *unused)
{
    int first;

    bind_to(0, allowed);
    CHECK(count_of(0, &first) == 1 && first == allowed);
    CHECK(sched_getcpu() == allowed);
    return unused;
}

static void check_bound(char **argv)
{
    int first;

    CHECK(count_of(0, &first) == 1 && first == atoi(argv[1]) && sched_getcpu() == first);
    _exit(0);
}

int main(int argc, char **argv)
{
    int first, all, ends[2];
    pthread_t thread;
    char number[20], byte = 0;
    cpu_set_t set;
    pid_t child;

    if (argc > 1)
        check_bound(argv);
    all = count_of(0, &first);
    CHECK(sched_getaffinity(0, sizeof set, &set) == 0);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &set))
            allowed = cpu;
    CHECK(pthread_create(&thread, NULL, run, NULL) == 0 && pthread_join(thread, NULL) == 0);
    CHECK(count_of(0, &first) == all);

    child = fork(); /* bound by itself, through exec */
    snprintf(number, sizeof number, "%d", allowed);
    if (child == 0) {
        bind_to(0, allowed);
        execl("/proc/self/exe", argv[0], number, NULL);
        _exit(1);
    }
    CHECK_CHILD(child);

    CHECK(pipe(ends) == 0);
    child = fork(); /* bound by its parent, through exec */
    if (child == 0) {
        CHECK(read(ends[0], &byte, 1) == 1);
        execl("/proc/self/exe", argv[0], number, NULL);
        _exit(1);
    }
    bind_to(child, allowed);
    CHECK(count_of(child, &first) == 1 && first == allowed);
    CHECK(count_of(0, &first) == all);
    CHECK(write(ends[1], &byte, 1) == 1);
    CHECK_CHILD(child);
    CHECK_ERRNO(sched_getaffinity(child, sizeof set, &set), ESRCH);
    CPU_ZERO(&set);
    CHECK_ERRNO(sched_setaffinity(0, sizeof set, &set), EINVAL);
    return succeed();
}
