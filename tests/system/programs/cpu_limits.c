/* Timers and limits of CPU time: makes calls until the one that the first argument names has sent its signals. Prints for each
 * signal the CPU time of the process and the time by the clock, in milliseconds. With "loop" as second argument it computes without
 * a call instead. "calls" makes so many calls as the second argument says. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile int signals, wanted;
static struct timespec begin;

static long milliseconds(clockid_t clock, const struct timespec *since)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (now.tv_sec - since->tv_sec) * 1000 + (now.tv_nsec - since->tv_nsec) / 1000000;
}

static void on_signal(int number, siginfo_t *info, void *context)
{
    static const struct timespec zero;
    char line[100];
    int length =
        snprintf(line, sizeof line, "%s %ld %ld %d\n", strsignal(number), milliseconds(CLOCK_PROCESS_CPUTIME_ID, &zero),
                 milliseconds(CLOCK_MONOTONIC, &begin), info->si_code == SI_TIMER ? info->si_value.sival_int : -1);

    (void)context;
    if (write(1, line, length) != length)
        abort();
    signals++;
}

static void catch(int number)
{
    struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_RESTART | SA_SIGINFO};

    sigaction(number, &action, NULL);
}

static void work(int loops)
{
    while (signals < wanted)
        if (!loops)
            syscall(SYS_getppid);
}

static void *thread(void *argument)
{
    (void)argument;
    for (int i = 0; i < 50; i++)
        syscall(SYS_getppid);
    return NULL;
}

static void limit(int loops)
{
    struct rlimit limit = {1, 3}, after;
    int status;
    pid_t child;

    setrlimit(RLIMIT_CPU, &limit);
    wanted = 4;
    if ((child = fork()) == 0) { /* a limit is inherited, what was used is not */
        clock_gettime(CLOCK_MONOTONIC, &begin);
        work(loops);
        _exit(1);
    }
    waitpid(child, &status, 0);
    printf("killed %d\n", WIFSIGNALED(status) ? WTERMSIG(status) : 0);
    getrlimit(RLIMIT_CPU, &after);
    printf("limit %ld %ld\n", (long)after.rlim_cur, (long)after.rlim_max);
}

static void interval(int which, int loops)
{
    struct itimerval timer = {{0, 10000}, {0, 30000}}, left;

    wanted = 5;
    setitimer(which, &timer, NULL);
    work(loops);
    getitimer(which, &left);
    printf("left %ld\n", (long)(left.it_value.tv_usec / 1000));
}

static void posix(clockid_t clock, int loops)
{
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1, .sigev_value.sival_int = 7};
    struct itimerspec timing = {{0, 20000000}, {0, 40000000}};
    pthread_t other;
    timer_t timer;

    wanted = 3;
    timer_create(clock, &event, &timer);
    timer_settime(timer, 0, &timing, NULL);
    pthread_create(&other, NULL, thread, NULL); /* counts for the process, and not for this thread */
    pthread_join(other, NULL);
    work(loops);
    timer_delete(timer);
}

int main(int count, char **arguments)
{
    const char *what = arguments[1];
    int loops = count > 2;

    catch(SIGXCPU);
    catch(SIGPROF);
    catch(SIGVTALRM);
    catch(SIGUSR1);
    clock_gettime(CLOCK_MONOTONIC, &begin);
    setbuf(stdout, NULL);
    if (strcmp(what, "limit") == 0)
        limit(loops);
    else if (strcmp(what, "calls") == 0)
        for (int left = atoi(arguments[2]); left > 0; left--)
            syscall(SYS_getppid);
    else if (strcmp(what, "prof") == 0 || strcmp(what, "virtual") == 0)
        interval(what[0] == 'p' ? ITIMER_PROF : ITIMER_VIRTUAL, loops);
    else
        posix(what[0] == 'p' ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_THREAD_CPUTIME_ID, loops);
    return 0;
}
