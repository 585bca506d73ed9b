// Memory of a child is read and written through process_vm_readv and /proc/PID/mem.
#include "check.h"

#include <sys/uio.h>

static volatile int number = 5;

int main(void)
{
    int copy = 0, next = 7;
    struct iovec local = {&copy, sizeof copy}, remote = {(void *)&number, sizeof number};
    pid_t child = fork();

    CHECK(child >= 0);
    if (child == 0) {
        number = 6;
        while (number == 6)
            usleep(1000);
        _exit(number);
    }
    sleep_ms(20);
    CHECK(process_vm_readv(child, &local, 1, &remote, 1, 0) == sizeof copy && copy == 6);
    local.iov_base = &next;
    CHECK(process_vm_writev(child, &local, 1, &remote, 1, 0) == sizeof next);
    CHECK(waitpid(child, &copy, 0) == child && WEXITSTATUS(copy) == 7);
    CHECK_ERRNO(process_vm_readv(child, &local, 1, &remote, 1, 0), ESRCH);
    return succeed();
}
