// A priority-inheriting mutex is handed to who has waited longest: its last owner cannot take it back first. Also recursive locking,
// trylock, timeouts, a signal while waiting, a condition variable, and processes that share it.
#include "check.h"

#include <pthread.h>
#include <sys/mman.h>

static pthread_mutex_t *lock;
static pthread_cond_t *changed;
static int *turns, *count;

static void make(pthread_mutex_t *mutex, int robust)
{
    pthread_mutexattr_t attributes;

    CHECK(pthread_mutexattr_init(&attributes) == 0);
    CHECK(pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT) == 0);
    CHECK(pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK) == 0);
    CHECK(pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED) == 0);
    CHECK(pthread_mutexattr_setrobust(&attributes, robust) == 0);
    CHECK(pthread_mutex_init(mutex, &attributes) == 0);
}

static void *one_turn(void *number)
{
    CHECK(pthread_mutex_lock(lock) == 0);
    turns[(*count)++] = (int)(long)number;
    CHECK(pthread_mutex_unlock(lock) == 0);
    return NULL;
}

static void in_order_of_waiting(void)
{
    pthread_t threads[3];

    CHECK(pthread_mutex_lock(lock) == 0 && pthread_mutex_lock(lock) == EDEADLK);
    for (long i = 0; i < 3; i++) {
        CHECK(pthread_create(&threads[i], NULL, one_turn, (void *)i) == 0);
        sleep_ms(20);
    }
    CHECK(pthread_mutex_unlock(lock) == 0);
    one_turn((void *)3);
    for (int i = 0; i < 3; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(*count == 4 && turns[0] == 0 && turns[1] != 3);
    CHECK(pthread_mutex_unlock(lock) == EPERM);
}

static void *tries(void *unused)
{
    int64_t start_ns = now_ns();
    struct timespec deadline = timespec_from(clock_ns(CLOCK_REALTIME) + 30 * MS);

    CHECK(pthread_mutex_trylock(lock) == EBUSY);
    CHECK(pthread_mutex_timedlock(lock, &deadline) == ETIMEDOUT);
    CHECK_ELAPSED(start_ns, 30);
    CHECK(pthread_mutex_lock(lock) == 0 && pthread_mutex_unlock(lock) == 0); /* through the signal */
    return unused;
}

static void no_action(int number)
{
    (void)number;
}

static void other_ways(void)
{
    struct sigaction action = {.sa_handler = no_action};
    pthread_t thread;

    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
    CHECK(pthread_mutex_lock(lock) == 0);
    CHECK(pthread_create(&thread, NULL, tries, NULL) == 0);
    sleep_ms(60);
    CHECK(pthread_kill(thread, SIGUSR1) == 0);
    sleep_ms(20);
    CHECK(pthread_mutex_unlock(lock) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
}

static void *wait_for_change(void *unused)
{
    CHECK(pthread_mutex_lock(lock) == 0);
    while (*count < 100)
        CHECK(pthread_cond_wait(changed, lock) == 0);
    CHECK(pthread_mutex_unlock(lock) == 0);
    return unused;
}

static void with_condition(void)
{
    pthread_t threads[3];

    for (int i = 0; i < 3; i++)
        CHECK(pthread_create(&threads[i], NULL, wait_for_change, NULL) == 0);
    sleep_ms(20);
    CHECK(pthread_mutex_lock(lock) == 0);
    *count = 100;
    CHECK(pthread_cond_broadcast(changed) == 0 && pthread_mutex_unlock(lock) == 0);
    for (int i = 0; i < 3; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
}

static void between_processes(void)
{
    int64_t start_ns = now_ns();
    pid_t child = fork();

    if (child == 0) {
        CHECK(pthread_mutex_lock(lock) == 0);
        sleep_ms(40);
        CHECK(pthread_mutex_unlock(lock) == 0);
        _exit(0);
    }
    sleep_ms(20);
    CHECK(pthread_mutex_lock(lock) == 0);
    CHECK_ELAPSED(start_ns, 40);
    CHECK(pthread_mutex_unlock(lock) == 0);
    CHECK_CHILD(child);
}

static void *die_with_it(void *unused)
{
    CHECK(pthread_mutex_lock(lock) == 0);
    sleep_ms(40);
    return unused;
}

/* The owner, a thread or a process, ends with the lock. */
static void robust(void)
{
    pthread_t thread;
    pid_t child;

    make(lock, PTHREAD_MUTEX_ROBUST);
    CHECK(pthread_create(&thread, NULL, die_with_it, NULL) == 0);
    sleep_ms(20);
    CHECK(pthread_mutex_lock(lock) == EOWNERDEAD && pthread_mutex_consistent(lock) == 0);
    CHECK(pthread_mutex_unlock(lock) == 0 && pthread_join(thread, NULL) == 0);
    child = fork();
    if (child == 0) {
        die_with_it(NULL);
        kill(getpid(), SIGKILL);
    }
    sleep_ms(20);
    CHECK(pthread_mutex_lock(lock) == EOWNERDEAD && pthread_mutex_consistent(lock) == 0);
    CHECK(pthread_mutex_unlock(lock) == 0 && waitpid(child, NULL, 0) == child);
}

int main(void)
{
    char *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pthread_condattr_t attributes;

    CHECK(shared != MAP_FAILED);
    lock = (void *)shared;
    changed = (void *)(shared + 128);
    count = (void *)(shared + 256);
    turns = count + 1;
    make(lock, PTHREAD_MUTEX_STALLED);
    CHECK(pthread_condattr_init(&attributes) == 0);
    CHECK(pthread_condattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED) == 0);
    CHECK(pthread_cond_init(changed, &attributes) == 0);
    in_order_of_waiting();
    other_ways();
    with_condition();
    between_processes();
    robust();
    return succeed();
}
