/* Missed wake-up: a process looks whether a signal has come, then waits for it; the signal may come between the two. Mended: it
 * waits by sigsuspend(2), with the signal blocked until then. */
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t came;

static void note(int number)
{
    came = number;
}

int main(void)
{
    pid_t parent = getpid();
#ifdef MENDED
    sigset_t before, usr1;

    sigemptyset(&usr1);
    sigaddset(&usr1, SIGUSR1);
    sigprocmask(SIG_BLOCK, &usr1, &before);
#endif
    signal(SIGUSR1, note);
    if (fork() == 0) {
        kill(parent, SIGUSR1);
        _exit(0);
    }
    while (!came) {
        getppid();
#ifdef MENDED
        sigsuspend(&before);
#else
        pause();
#endif
    }
    wait(NULL);
    return 0;
}
