/* A handler that changes what the program is just changing. Mended: the signal is blocked meanwhile. */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int balance, entries;

static void book(int amount)
{
    int before = balance;

    getppid();
    balance = before + amount;
    entries++;
}

static void handle(int number)
{
    (void)number;
    book(100);
}

int main(void)
{
    pid_t parent = getpid(), child;
#ifdef MENDED
    sigset_t usr1, before;

    sigemptyset(&usr1);
    sigaddset(&usr1, SIGUSR1);
#endif
    signal(SIGUSR1, handle);
    child = fork();
    if (child == 0) {
        kill(parent, SIGUSR1);
        _exit(0);
    }
#ifdef MENDED
    sigprocmask(SIG_BLOCK, &usr1, &before);
#endif
    book(1);
#ifdef MENDED
    sigprocmask(SIG_SETMASK, &before, NULL);
#endif
    waitpid(child, NULL, 0);
    while (entries < 2)
        getppid();
    return balance != 101;
}
