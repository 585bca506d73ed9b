// A fault whose signal is blocked kills, whether there is a handler or not and however the signal was blocked; signal(7).
#include "check.h"

#include <pthread.h>
#include <sys/mman.h>

static const int numbers[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP};

static void handler(int number)
{
    (void)number;
    _exit(3);
}

/* Make the fault whose signal this is. */
static void fault(int number)
{
    int fd;

    switch (number) {
    case SIGSEGV:
        *(volatile int *)mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) = 1;
        break;
    case SIGBUS: /* behind the end of a file */
        fd = open("/tmp/fault_while_blocked", O_CREAT | O_TRUNC | O_RDWR, 0600);
        unlink("/tmp/fault_while_blocked");
        *(volatile int *)mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) = 1;
        break;
    case SIGILL:
        __asm__ volatile("ud2");
        break;
    case SIGFPE:
        __asm__ volatile("xorl %%ecx, %%ecx; movl $1, %%eax; cltd; idivl %%ecx" ::: "eax", "ecx", "edx");
        break;
    default:
        __asm__ volatile("int3");
    }
}

static void block(int number)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, number);
    CHECK(pthread_sigmask(SIG_BLOCK, &set, NULL) == 0);
}

static void *in_thread(void *number)
{
    fault(*(int *)number);
    return NULL;
}

/* A thread inherits the mask. */
static void fault_in_thread(int number)
{
    pthread_t thread;

    block(number);
    CHECK(pthread_create(&thread, NULL, in_thread, &number) == 0 && pthread_join(thread, NULL) == 0);
}

static void fault_at_once(int number)
{
    block(number);
    fault(number);
}

static void fault_in_child(int number)
{
    pid_t child;
    int status;

    block(number);
    child = fork();
    if (child == 0)
        fault(number);
    CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status) && WTERMSIG(status) == number);
    _exit(7);
}

static void fault_unblocked_again(int number)
{
    sigset_t set;

    block(number);
    sigemptyset(&set);
    CHECK(pthread_sigmask(SIG_SETMASK, &set, NULL) == 0);
    fault(number);
}

static int status_of(void (*way)(int number), int number)
{
    pid_t child = fork();
    int status;

    if (child == 0) {
        CHECK(signal(number, handler) != SIG_ERR);
        way(number);
        _exit(4);
    }
    CHECK(waitpid(child, &status, 0) == child);
    return status;
}

int main(void)
{
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        int number = numbers[i];
        int status = status_of(fault_at_once, number);

        CHECK(WIFSIGNALED(status) && WTERMSIG(status) == number);
        status = status_of(fault_in_thread, number);
        CHECK(WIFSIGNALED(status) && WTERMSIG(status) == number);
        CHECK(WEXITSTATUS(status_of(fault_in_child, number)) == 7);
        status = status_of(fault_unblocked_again, number);
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 3);
    }
    return succeed();
}
