// What seccomp(2) takes and refuses; a filter for all threads at once.
#include "seccomp.h"

#include <pthread.h>

static int ends[2];

static void *wait_and_try(void *unused)
{
    char byte;

    CHECK(read(ends[0], &byte, 1) == 1);
    CHECK_ERRNO(mkdir("/tmp/seccomp_rules", 0700), EDOM);
    return unused;
}

static void check_all_threads(void)
{
    pthread_t thread;

    CHECK(pipe(ends) == 0 && pthread_create(&thread, NULL, wait_and_try, NULL) == 0);
    CHECK(filter_one(SYS_mkdir, SECCOMP_RET_ERRNO | EDOM, SECCOMP_FILTER_FLAG_TSYNC) == 0);
    CHECK(write(ends[1], "x", 1) == 1 && pthread_join(thread, NULL) == 0);
}

static long set(struct sock_filter *program, unsigned short length)
{
    struct sock_fprog given = {.len = length, .filter = program};

    return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &given);
}

static void check_programs(void)
{
    struct sock_filter no_end = BPF_STMT(BPF_LD | BPF_IMM, 1);
    struct sock_filter far = BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 64);
    struct sock_filter odd = BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 2);
    struct sock_filter half = BPF_STMT(BPF_LD | BPF_H | BPF_ABS, 0);
    struct sock_filter zero = BPF_STMT(BPF_ALU | BPF_DIV | BPF_K, 0);
    struct sock_filter shift = BPF_STMT(BPF_ALU | BPF_LSH | BPF_K, 32);
    struct sock_filter memory = BPF_STMT(BPF_ST, 16);
    struct sock_filter jump = BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0);
    struct sock_filter unknown = BPF_STMT(0xff, 0);
    struct sock_filter *wrong[] = {&far, &odd, &half, &zero, &shift, &memory, &jump, &unknown};
    struct sock_filter end = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);

    CHECK_ERRNO(set(&end, 0), EINVAL);
    CHECK_ERRNO(set(&no_end, 1), EINVAL);
    CHECK_ERRNO(set(NULL, 1), EINVAL);
    CHECK_ERRNO(set((struct sock_filter *)4096, 1), EFAULT);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        CHECK_ERRNO(set((struct sock_filter[]){*wrong[i], end}, 2), EINVAL);
}

/* The arithmetic of BPF, told by an errno: ((nr & 0xff) * 3 + 6) / 3 - 2 is the call's number, from memory and index register. */
static void check_arithmetic(void)
{
    struct sock_filter program[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0xff),
        BPF_STMT(BPF_ST, 3),
        BPF_STMT(BPF_LDX | BPF_IMM, 3),
        BPF_STMT(BPF_ALU | BPF_MUL | BPF_X, 0),
        BPF_STMT(BPF_ALU | BPF_ADD | BPF_K, 6),
        BPF_STMT(BPF_ALU | BPF_DIV | BPF_X, 0),
        BPF_STMT(BPF_MISC | BPF_TAX, 0),
        BPF_STMT(BPF_LD | BPF_IMM, 2),
        BPF_STMT(BPF_ALU | BPF_NEG, 0),
        BPF_STMT(BPF_ALU | BPF_ADD | BPF_X, 0), /* -2 + (3 nr + 6) / 3 */
        BPF_STMT(BPF_LDX | BPF_MEM, 3),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_X, 0, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EINVAL),
        BPF_STMT(BPF_ALU | BPF_LSH | BPF_K, 4),
        BPF_STMT(BPF_ALU | BPF_RSH | BPF_K, 4),
        BPF_STMT(BPF_ALU | BPF_OR | BPF_K, SECCOMP_RET_ERRNO),
        BPF_STMT(BPF_RET | BPF_A, 0),
    };

    CHECK(set(program, sizeof program / sizeof program[0]) == 0);
    CHECK_ERRNO(syscall(SYS_getppid), SYS_getppid);
}

int main(void)
{
    uint32_t errno_action = SECCOMP_RET_ERRNO, unknown = 0x12340000;
    struct sock_filter end = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog given = {.len = 1, .filter = &end};

    CHECK(syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &errno_action) == 0);
    CHECK_ERRNO(syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &unknown), EOPNOTSUPP);
    CHECK_ERRNO(syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 1, &errno_action), EINVAL);
    CHECK_ERRNO(syscall(SYS_seccomp, 99, 0, &given), EINVAL);
    CHECK_ERRNO(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 1 << 20, &given), EINVAL);
    CHECK_ERRNO(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, NULL), EFAULT);
    CHECK_ERRNO(syscall(SYS_seccomp, SECCOMP_SET_MODE_STRICT, 1, NULL), EINVAL);
    CHECK_ERRNO(prctl(PR_SET_SECCOMP, 7, NULL), EINVAL);
    CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    check_programs();
    CHECK(prctl(PR_GET_SECCOMP) == 0);
    check_all_threads();
    check_arithmetic();
    CHECK_ERRNO(prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT), EINVAL);
    return succeed();
}
