// A handler that ends a wait under a mask of its own (sigsuspend, ppoll, pselect, epoll_pwait) runs on the stack of the program, or
// on the alternate one if it wants that; the mask from before is back afterwards, and a jump out of it is possible for ever.
#include "check.h"

#include <poll.h>
#include <setjmp.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/syscall.h>

#define SIZE 16384

static char alternate[SIZE];
static char *frame_of_main;
static volatile sig_atomic_t plain, on_alternate;
static volatile sig_atomic_t jumps;
static sigjmp_buf home;

static void handler(int number)
{
    char here;
    sigset_t mask;

    CHECK(sigprocmask(SIG_SETMASK, NULL, &mask) == 0);
    CHECK(sigismember(&mask, number) == 1); /* the handler's own; the wait's mask has let it in */
    if (number == SIGUSR2) {
        CHECK(&here >= alternate && &here < alternate + SIZE);
        on_alternate++;
    } else {
        CHECK(&here < frame_of_main && frame_of_main - &here < 65536);
        plain++;
    }
    if (jumps > 0) {
        jumps--;
        siglongjmp(home, 1);
    }
}

static void suspend_once(const sigset_t *inside)
{
    struct timespec second = {1, 0};
    int epoll = epoll_create1(0);
    struct epoll_event event;
    sigset_t now;

    for (int way = 0; way < 4; way++) {
        CHECK(raise(SIGUSR1) == 0 && raise(SIGUSR2) == 0); /* both are blocked */
        errno = 0;
        if (way == 0)
            CHECK(sigsuspend(inside) == -1 && errno == EINTR);
        else if (way == 1)
            CHECK(syscall(SYS_ppoll, NULL, 0, &second, inside, 8) == -1 && errno == EINTR);
        else if (way == 2)
            CHECK(pselect(0, NULL, NULL, NULL, &second, inside) == -1 && errno == EINTR);
        else
            CHECK(epoll_pwait(epoll, &event, 1, 1000, inside) == -1 && errno == EINTR);
        CHECK(sigprocmask(SIG_SETMASK, NULL, &now) == 0);
        CHECK(sigismember(&now, SIGUSR1) == 1 && sigismember(&now, SIGUSR2) == 1 && sigismember(&now, SIGTERM) == 0);
    }
    close(epoll);
}

int main(void)
{
    char here;
    stack_t stack = {.ss_sp = alternate, .ss_size = SIZE};
    struct sigaction action = {.sa_handler = handler};
    sigset_t outside, inside;

    frame_of_main = &here;
    CHECK(sigaltstack(&stack, NULL) == 0);
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
    action.sa_flags = SA_ONSTACK;
    CHECK(sigaction(SIGUSR2, &action, NULL) == 0);
    CHECK(sigemptyset(&inside) == 0 && sigemptyset(&outside) == 0);
    CHECK(sigaddset(&outside, SIGUSR1) == 0 && sigaddset(&outside, SIGUSR2) == 0);
    CHECK(sigprocmask(SIG_BLOCK, &outside, NULL) == 0);
    suspend_once(&inside);
    CHECK(plain == 4 && on_alternate == 4);
    jumps = 500;
    while (jumps > 0) {
        CHECK(raise(SIGUSR1) == 0);
        if (sigsetjmp(home, 1) == 0)
            sigsuspend(&inside);
    }
    return succeed();
}
