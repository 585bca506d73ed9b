// A signal that a thread sends to its own process is the main thread's, wherever that waits, unless the main thread blocks it.
#include "check.h"

#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/socket.h>
#include <sys/syscall.h>

static volatile sig_atomic_t taken_by, code, sender;
static pid_t thread_id;
static sem_t again;

static void handler(int number, siginfo_t *info, void *unused)
{
    CHECK(number == SIGHUP && unused != NULL);
    taken_by = (int)syscall(SYS_gettid);
    code = info->si_code;
    sender = info->si_pid;
}

static void *run(void *unused)
{
    thread_id = (pid_t)syscall(SYS_gettid);
    for (int i = 0; i < 5; i++) {
        CHECK(sem_wait(&again) == 0);
        sleep_ms(20);
        CHECK(kill(getpid(), SIGHUP) == 0);
        sleep_ms(20);
    }
    return unused;
}

static void check_main_took_it(void)
{
    CHECK(taken_by == getpid() && code == SI_USER && sender == getpid());
    taken_by = 0;
}

int main(void)
{
    struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};
    struct sockaddr_in address = {.sin_family = AF_INET};
    int server = socket(AF_INET, SOCK_STREAM, 0);
    int64_t start_ns;
    sigset_t set;
    pthread_t thread;
    siginfo_t info;

    CHECK(sem_init(&again, 0, 0) == 0);
    CHECK(bind(server, (struct sockaddr *)&address, sizeof address) == 0 && listen(server, 5) == 0);
    CHECK(sigaction(SIGHUP, &action, NULL) == 0);
    CHECK(pthread_create(&thread, NULL, run, NULL) == 0);

    start_ns = now_ns();
    CHECK(sem_post(&again) == 0);
    CHECK_ERRNO(accept(server, NULL, NULL), EINTR);
    CHECK_ELAPSED(start_ns, 20);
    check_main_took_it();

    CHECK(sem_post(&again) == 0);
    CHECK_ERRNO(poll(NULL, 0, -1), EINTR);
    check_main_took_it();

    CHECK(sem_post(&again) == 0);
    CHECK(pause() == -1);
    check_main_took_it();

    CHECK(sigemptyset(&set) == 0 && sigaddset(&set, SIGHUP) == 0 && pthread_sigmask(SIG_BLOCK, &set, NULL) == 0);
    CHECK(sem_post(&again) == 0);
    CHECK(sigwaitinfo(&set, &info) == SIGHUP && info.si_pid == getpid() && taken_by == 0);

    CHECK(sem_post(&again) == 0);
    CHECK(pthread_join(thread, NULL) == 0); /* blocked here: the sender takes it */
    CHECK(taken_by == thread_id);
    return succeed();
}
