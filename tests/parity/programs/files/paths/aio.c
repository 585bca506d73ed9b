// POSIX asynchronous I/O on a pipe: in progress until another process writes, then done.
#include "check.h"

#include <aio.h>

int main(void)
{
    char data[10] = "";
    struct aiocb request = {.aio_buf = data, .aio_nbytes = sizeof data};
    const struct aiocb *const list[] = {&request};
    struct timespec limit = {.tv_nsec = 20 * MS};
    int64_t start_ns = now_ns();
    int ends[2];
    pid_t child;

    CHECK(pipe(ends) == 0);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        sleep_ms(50);
        _exit(write(ends[1], "hello", 5) != 5);
    }
    request.aio_fildes = ends[0];
    CHECK(aio_read(&request) == 0 && aio_error(&request) == EINPROGRESS);
    CHECK_ERRNO(aio_suspend(list, 1, &limit), EAGAIN);
    CHECK_ELAPSED(start_ns, 20);
    CHECK(aio_suspend(list, 1, NULL) == 0);
    CHECK_ELAPSED(start_ns, 50);
    CHECK(aio_error(&request) == 0 && aio_return(&request) == 5 && memcmp(data, "hello", 5) == 0);
    CHECK_CHILD(child);
    return succeed();
}
