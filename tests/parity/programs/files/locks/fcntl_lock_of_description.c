// Open-file-description locks (F_OFD_SETLKW) wait between two descriptors of one process, in two threads.
#include "check.h"

#include <pthread.h>

static struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

static void *holder(void *unused)
{
    int fd = open("lock", O_CREAT | O_RDWR, 0600);

    CHECK(fd >= 0 && fcntl(fd, F_OFD_SETLKW, &whole) == 0);
    sleep_ms(40);
    CHECK(close(fd) == 0);
    return unused;
}

int main(void)
{
    int64_t start_ns = now_ns();
    pthread_t thread;
    int fd = open("lock", O_CREAT | O_RDWR, 0600);

    CHECK(fd >= 0 && pthread_create(&thread, NULL, holder, NULL) == 0);
    sleep_ms(10);
    CHECK_ERRNO(fcntl(fd, F_OFD_SETLK, &whole), EAGAIN);
    CHECK(fcntl(fd, F_OFD_SETLKW, &whole) == 0);
    CHECK_ELAPSED(start_ns, 40);
    CHECK(pthread_join(thread, NULL) == 0);
    return succeed();
}
