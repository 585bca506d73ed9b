// Locks whose words name their owner, timers that signal a thread, numbers that are chosen: all by the numbers of the PID namespace.
#include "namespaces.h"

#include <pthread.h>
#include <sys/syscall.h>

static pthread_mutex_t lock;
static volatile sig_atomic_t taken_by;

static void *hold_for_a_while(void *unused)
{
    (void)unused;
    CHECK(pthread_mutex_lock(&lock) == 0);
    sleep_ms(50);
    CHECK(pthread_mutex_unlock(&lock) == 0);
    return NULL;
}

static void inherit_priorities(void)
{
    pthread_mutexattr_t attributes;
    pthread_t threads[3];

    CHECK(pthread_mutexattr_init(&attributes) == 0);
    CHECK(pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT) == 0);
    CHECK(pthread_mutex_init(&lock, &attributes) == 0);
    for (int i = 0; i < 3; i++)
        CHECK(pthread_create(&threads[i], NULL, hold_for_a_while, NULL) == 0);
    for (int i = 0; i < 3; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(pthread_mutex_lock(&lock) == 0 && (lock.__data.__lock & 0x3fffffff) == gettid());
    CHECK(pthread_mutex_unlock(&lock) == 0);
}

static void handler(int number)
{
    (void)number;
    taken_by = gettid();
}

static void *take_timer(void *unused)
{
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGUSR1};
    struct itimerspec soon = {.it_value.tv_nsec = 20 * MS};
    timer_t timer;

    (void)unused;
    event._sigev_un._tid = gettid();
    CHECK(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
    CHECK(timer_settime(timer, 0, &soon, NULL) == 0);
    while (taken_by == 0)
        pause();
    CHECK(taken_by == gettid());
    CHECK(timer_delete(timer) == 0);
    return NULL;
}

static void choose_number(void)
{
    pid_t wanted = 77;
    struct birth arguments = {.exit_signal = SIGCHLD, .set_tid = (uint64_t)&wanted, .set_tid_size = 1};
    pid_t child = (pid_t)syscall(SYS_clone3, &arguments, sizeof arguments);

    CHECK(child >= 0);
    if (child == 0)
        _exit(getpid() == 77 ? 0 : 1);
    CHECK(child == 77);
    CHECK_CHILD(child);
}

static void inside(void)
{
    struct sigaction action = {.sa_handler = handler};
    pthread_t thread;
    pid_t child = fork(); /* whose number the C library knows, unlike that of process 1, which it has not made */

    CHECK(child >= 0);
    if (child != 0) {
        CHECK_CHILD(child);
        _exit(0);
    }
    CHECK(getpid() == 2);
    inherit_priorities();
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
    CHECK(pthread_create(&thread, NULL, take_timer, NULL) == 0 && pthread_join(thread, NULL) == 0);
    choose_number();
    _exit(0);
}

int main(void)
{
    pid_t child = birth(needed_flags() | CLONE_NEWPID);

    CHECK(child >= 0);
    if (child == 0)
        inside();
    CHECK_CHILD(child);
    return succeed();
}
