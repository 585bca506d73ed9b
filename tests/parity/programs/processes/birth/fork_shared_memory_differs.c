// Parent and child have the same file offsets, but memory, clocks' origin and pids of their own.
#include "check.h"

static int value = 1;

int main(void)
{
    int64_t before_ns = now_ns();
    int file = open("shared", O_CREAT | O_RDWR, 0600);
    pid_t parent = getpid();
    pid_t child;

    CHECK(file >= 0);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        value = 2;
        CHECK(getpid() != parent && getppid() == parent && getpid() == gettid());
        CHECK(write(file, "abc", 3) == 3);
        CHECK(now_ns() >= before_ns);
        _exit(0);
    }
    CHECK_CHILD(child);
    CHECK(value == 1 && lseek(file, 0, SEEK_CUR) == 3);
    return succeed();
}
