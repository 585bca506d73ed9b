// One `syscall` instruction makes thousands of calls of all kinds, while others wait in it, are interrupted in it, and are
// cancelled: the shim puts a jump in its place once it has trapped often (csrc/shim/entry/hot_site.c), and nobody notices.
#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TIMES 2000

struct registers {
    uint64_t rdi, rsi, rdx, r10, r8, r9, rbx, rbp, r12, r15, red_zone;
};

// In a function of its own, with padding behind it as compilers make it. All registers but rax, rcx and r11 are kept, and so is
// the red zone.
__asm__(".text\n.balign 16\n.type one_call, @function\none_call:\n.cfi_startproc\n"
        "mov %rdi, %rax\nmov %rsi, %rdi\nmov %rdx, %rsi\nmov %rcx, %rdx\nmov %r8, %r10\nxor %r8d, %r8d\nxor %r9d, %r9d\n"
        "syscall\nret\n.cfi_endproc\n.size one_call, .-one_call\n.balign 16\n"
        ".type keeps, @function\nkeeps:\n.cfi_startproc\n"
        "push %rbx\n.cfi_adjust_cfa_offset 8\npush %rbp\n.cfi_adjust_cfa_offset 8\npush %r12\n.cfi_adjust_cfa_offset 8\n"
        "push %r15\n.cfi_adjust_cfa_offset 8\npush %rdi\n.cfi_adjust_cfa_offset 8\n"
        "mov $110, %eax\nmov $1, %edi\nmov $2, %esi\nmov $3, %edx\nmov $4, %r10d\nmov $5, %r8d\nmov $6, %r9d\nmov $7, %ebx\n"
        "mov $8, %ebp\nmov $9, %r12d\nmov $10, %r15d\nmovq $11, -128(%rsp)\n"
        "syscall\n"
        "mov (%rsp), %rcx\nmov %rdi, (%rcx)\nmov %rsi, 8(%rcx)\nmov %rdx, 16(%rcx)\nmov %r10, 24(%rcx)\nmov %r8, 32(%rcx)\n"
        "mov %r9, 40(%rcx)\nmov %rbx, 48(%rcx)\nmov %rbp, 56(%rcx)\nmov %r12, 64(%rcx)\nmov %r15, 72(%rcx)\n"
        "mov -128(%rsp), %rdx\nmov %rdx, 80(%rcx)\n"
        "pop %rdi\n.cfi_adjust_cfa_offset -8\npop %r15\n.cfi_adjust_cfa_offset -8\npop %r12\n.cfi_adjust_cfa_offset -8\n"
        "pop %rbp\n.cfi_adjust_cfa_offset -8\npop %rbx\n.cfi_adjust_cfa_offset -8\nret\n"
        ".cfi_endproc\n.size keeps, .-keeps\n.balign 16\n"
        // Far from any padding. Come to by its beginning (rdi 0), behind the load of the number, and at the instruction itself.
        ".type approached, @function\napproached:\n.cfi_startproc\n"
        "mov %esi, %eax\ntest %edi, %edi\nje 1f\ncmp $1, %edi\nje 2f\njmp 3f\n.skip 200, 0x90\n"
        "1: mov parent_number(%rip), %eax\n2: xor %edi, %edi\n3: syscall\nret\n.skip 200, 0x90\n"
        ".cfi_endproc\n.size approached, .-approached\n.balign 16\n"
        ".type behind, @function\nbehind:\n.cfi_startproc\nret\n.cfi_endproc\n.size behind, .-behind\n");
extern long one_call(long number, long a, long b, long c, long d);
extern long keeps(struct registers *registers);
extern long approached(int how, int number);
const int parent_number = SYS_getppid;

static uint32_t word;
static int ends[2];
static volatile sig_atomic_t handled;
static sigjmp_buf away;

static void note(int signal)
{
    (void)signal;
    handled++;
}

static void write_a_byte(int signal)
{
    (void)signal;
    handled++;
    CHECK(one_call(SYS_write, ends[1], (long)"x", 1, 0) == 1);
}

static void jump(int signal)
{
    (void)signal;
    siglongjmp(away, 1);
}

static void alarm_in(long milliseconds, void (*handler)(int), int flags)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
    struct itimerval timer = {{0, 0}, {0, 1000 * milliseconds}};

    CHECK(sigaction(SIGALRM, &action, NULL) == 0);
    CHECK(setitimer(ITIMER_REAL, &timer, NULL) == 0);
}

static void *wait_there(void *unused)
{
    CHECK(one_call(SYS_futex, (long)&word, FUTEX_WAIT, 0, 0) == 0);
    return unused;
}

static void test_registers(void)
{
    struct registers seen;

    for (int i = 0; i < TIMES; i++) {
        CHECK(keeps(&seen) == getppid());
        CHECK(seen.rdi == 1 && seen.rsi == 2 && seen.rdx == 3 && seen.r10 == 4 && seen.r8 == 5 && seen.r9 == 6);
        CHECK(seen.rbx == 7 && seen.rbp == 8 && seen.r12 == 9 && seen.r15 == 10 && seen.red_zone == 11);
    }
}

// The instruction is reached in three ways, only the first of which passes what the shim replaces.
static void test_approach(void)
{
    for (int i = 0; i < TIMES; i++) {
        CHECK(approached(0, -1) == getppid());
        CHECK(i % 3 != 0 || approached(1, SYS_getpid) == getpid());
        CHECK(i % 5 != 0 || approached(2, SYS_getuid) == getuid());
    }
}

// Masks and actions by libc's instructions, which become hot.
static void test_masks(void)
{
    sigset_t usr1;
    sigset_t before;
    struct sigaction was;

    sigemptyset(&usr1);
    sigaddset(&usr1, SIGUSR1);
    for (int i = 1; i <= TIMES; i++) {
        struct sigaction action = {.sa_handler = i % 2 ? note : write_a_byte};
        char byte;

        CHECK(sigaction(SIGUSR1, &action, &was) == 0 && (i == 1 || was.sa_handler == (i % 2 ? write_a_byte : note)));
        handled = 0;
        CHECK(pthread_sigmask(SIG_BLOCK, &usr1, &before) == 0 && !sigismember(&before, SIGUSR1));
        CHECK(raise(SIGUSR1) == 0 && handled == 0);
        CHECK(pthread_sigmask(SIG_SETMASK, &before, &usr1) == 0 && handled == 1 && sigismember(&usr1, SIGUSR1));
        CHECK(i % 2 != 0 || read(ends[0], &byte, 1) == 1);
        CHECK(pthread_sigmask(SIG_SETMASK, NULL, &before) == 0 && !sigismember(&before, SIGUSR1));
    }
}

// A thread waits in the instruction while it changes, and another interrupts it there.
static void test_waiting(void)
{
    pthread_t waiter;
    char byte = 0;

    CHECK(pthread_create(&waiter, NULL, wait_there, NULL) == 0);
    usleep(10000);
    for (int i = 0; i < TIMES; i++)
        CHECK(one_call(SYS_getpid, 0, 0, 0, 0) == getpid());
    word = 1;
    CHECK(one_call(SYS_futex, (long)&word, FUTEX_WAKE, 1, 0) == 1);
    CHECK(pthread_join(waiter, NULL) == 0);
    CHECK(one_call(SYS_futex, (long)&word, FUTEX_WAIT, 0, 0) == -EAGAIN);
    CHECK(one_call(SYS_pipe2, 8, 0, 0, 0) == -EFAULT);
    CHECK(one_call(SYS_read, -1, (long)&byte, 1, 0) == -EBADF);
}

static void test_signals(void)
{
    struct timespec long_time = {5, 0};
    struct timespec left = {0, 0};
    char byte = 0;

    alarm_in(20, note, 0);
    CHECK(one_call(SYS_nanosleep, (long)&long_time, (long)&left, 0, 0) == -EINTR);
    CHECK(handled == 1 && left.tv_sec == 4);
    alarm_in(20, note, 0);
    CHECK(one_call(SYS_read, ends[0], (long)&byte, 1, 0) == -EINTR);
    CHECK(handled == 2);
    alarm_in(20, write_a_byte, SA_RESTART);
    CHECK(one_call(SYS_read, ends[0], (long)&byte, 1, 0) == 1);
    CHECK(handled == 3 && byte == 'x');
    for (int i = 0; i < 3; i++)
        if (sigsetjmp(away, 1) == 0) {
            alarm_in(20, jump, 0);
            one_call(SYS_read, ends[0], (long)&byte, 1, 0);
            CHECK(!"the handler has jumped away");
        }
    CHECK(signal(SIGUSR1, note) != SIG_ERR);
    CHECK(one_call(SYS_tgkill, getpid(), gettid(), SIGUSR1, 0) == 0);
    CHECK(handled == 4);
    CHECK(one_call(SYS_kill, getpid(), SIGUSR1, 0, 0) == 0);
    CHECK(handled == 5);
}

// Calls that need the registers of the instruction itself.
static void test_raw_calls(void)
{
    uint64_t blocked = 0;
    uint64_t usr2 = 1UL << (SIGUSR2 - 1);
    int status = 0;
    long child = one_call(SYS_clone, SIGCHLD, 0, 0, 0);

    if (child == 0) {
        for (int i = 0; i < TIMES; i++)
            CHECK(one_call(SYS_getppid, 0, 0, 0, 0) > 0);
        one_call(SYS_exit_group, 7, 0, 0, 0);
    }
    CHECK(child > 0);
    CHECK(one_call(SYS_wait4, child, (long)&status, 0, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
    CHECK(one_call(SYS_rt_sigprocmask, SIG_BLOCK, (long)&usr2, 0, 8) == 0);
    CHECK(one_call(SYS_rt_sigprocmask, SIG_UNBLOCK, (long)&usr2, (long)&blocked, 8) == 0);
    CHECK((blocked & usr2) != 0);
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int turn, cleaned;

static void clean(void *unused)
{
    (void)unused;
    cleaned++;
    CHECK(pthread_mutex_unlock(&mutex) == 0);
}

static void *answer(void *unused)
{
    CHECK(pthread_mutex_lock(&mutex) == 0);
    pthread_cleanup_push(clean, NULL);
    for (;;) {
        while (turn % 2 == 0)
            pthread_cond_wait(&condition, &mutex);
        turn++;
        pthread_cond_broadcast(&condition);
    }
    pthread_cleanup_pop(1);
    return unused;
}

// libc's own instructions become hot; then the thread that waits in one is cancelled, and its handlers are unwound to.
static void test_cancellation(void)
{
    pthread_t other;
    void *result;

    CHECK(pthread_create(&other, NULL, answer, NULL) == 0);
    CHECK(pthread_mutex_lock(&mutex) == 0);
    for (int i = 0; i < TIMES; i++) {
        turn++;
        pthread_cond_broadcast(&condition);
        while (turn % 2 != 0)
            pthread_cond_wait(&condition, &mutex);
    }
    CHECK(pthread_mutex_unlock(&mutex) == 0);
    usleep(10000);
    CHECK(pthread_cancel(other) == 0);
    CHECK(pthread_join(other, &result) == 0);
    CHECK(result == PTHREAD_CANCELED && cleaned == 1);
    CHECK(pthread_mutex_trylock(&mutex) == 0);
}

int main(void)
{
    CHECK(pipe(ends) == 0);
    test_waiting();
    test_registers();
    test_approach();
    test_masks();
    for (int i = 0; i < 3; i++) {
        handled = 0;
        test_signals();
        test_raw_calls();
    }
    test_cancellation();
    return succeed();
}
