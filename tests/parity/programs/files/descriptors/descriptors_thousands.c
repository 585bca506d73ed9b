// The soft limit of 1,024 descriptors can be raised: thousands of files and sockets, also across threads, fork and exec.
#include "inet.h"

#include <poll.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/resource.h>

#define MANY 3000

static void *beside(void *listener)
{
    sleep_ms(10);
    return (void *)(long)accept(*(int *)listener, NULL, NULL);
}

/* Descriptors above the old limit serve every purpose. */
static void use_high(int low)
{
    int epoll = epoll_create1(0);
    struct epoll_event event = {.events = EPOLLIN, .data.fd = 7};
    struct pollfd entry = {.events = POLLIN};
    int listener = listening_socket(4);
    pthread_t thread;
    void *server;
    int client;
    char byte;

    CHECK(listener > low && epoll > low);
    CHECK(pthread_create(&thread, NULL, beside, &listener) == 0);
    client = connected_to(port_of(listener));
    CHECK(pthread_join(thread, &server) == 0 && (long)server > low);
    CHECK(epoll_ctl(epoll, EPOLL_CTL_ADD, client, &event) == 0);
    CHECK(write((int)(long)server, "x", 1) == 1);
    CHECK(epoll_wait(epoll, &event, 1, 1000) == 1 && event.data.fd == 7);
    entry.fd = client;
    CHECK(poll(&entry, 1, 0) == 1 && read(client, &byte, 1) == 1);
}

int main(int argc, char **argv)
{
    struct rlimit limit;
    pid_t child;
    int status;
    int fd;

    CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    if (argc > 1) { /* after exec: the limits are kept, and so are the descriptors */
        CHECK(limit.rlim_cur == MANY && limit.rlim_max > MANY && fcntl(2500, F_GETFD) == 0);
        CHECK(dup2(0, MANY - 1) == MANY - 1);
        CHECK_ERRNO(dup2(0, MANY), EBADF);
        return succeed();
    }
    CHECK(limit.rlim_max >= MANY);
    limit.rlim_cur = 1024;
    CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    limit.rlim_cur = MANY;
    CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    while ((fd = dup(0)) >= 0 && fd < 2600)
        continue;
    CHECK(fd == 2600);
    use_high(2600);
    child = fork();
    if (child == 0) {
        use_high(2600);
        _exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    CHECK(system("true") == 0);
    execl("/proc/self/exe", argv[0], "after", NULL);
    return 1;
}
