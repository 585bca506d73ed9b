// pthread_cancel ends a thread in each call that waits and is a cancellation point; its clean-up handlers run.
#include "check.h"

#include <mqueue.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/epoll.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/socket.h>

static int ends[2], pair[2], listener, epoll, queue;
static mqd_t posix_queue;
static sem_t semaphore;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int cleaned;

static void clean(void *unused)
{
    (void)unused;
    cleaned++;
}

static void unlock(void *unused)
{
    (void)unused;
    CHECK(pthread_mutex_unlock(&lock) == 0);
}

static char bytes[64];

static void by_read(void)
{
    (void)!read(ends[0], bytes, 1);
}

static void by_recv(void)
{
    recv(pair[0], bytes, 1, 0);
}

static void by_accept(void)
{
    accept(listener, NULL, NULL);
}

static void by_poll(void)
{
    poll(&(struct pollfd){ends[0], POLLIN, 0}, 1, -1);
}

static void by_select(void)
{
    fd_set set;

    FD_ZERO(&set);
    FD_SET(ends[0], &set);
    select(ends[0] + 1, &set, NULL, NULL, NULL);
}

static void by_epoll(void)
{
    struct epoll_event event;

    epoll_wait(epoll, &event, 1, -1);
}

static void by_sleep(void)
{
    sleep(3600);
}

static void by_usleep(void)
{
    usleep(4000000000U);
}

static void by_pause(void)
{
    pause();
}

static void by_sigwait(void)
{
    sigset_t set;
    int signal;

    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    sigwait(&set, &signal);
}

static void by_semaphore(void)
{
    sem_wait(&semaphore);
}

static void by_condition(void)
{
    CHECK(pthread_mutex_lock(&lock) == 0);
    pthread_cleanup_push(unlock, NULL);
    for (;;)
        pthread_cond_wait(&condition, &lock);
    pthread_cleanup_pop(1);
}

static void by_msgrcv(void)
{
    (void)!msgrcv(queue, bytes, 8, 1, 0);
}

static void by_mq_receive(void)
{
    mq_receive(posix_queue, bytes, sizeof bytes, NULL);
}

static void by_wait(void)
{
    wait(NULL);
}

static void by_lock(void)
{
    struct flock other = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int file = open("cancel_in_every_wait.lock", O_RDWR);

    fcntl(file, F_SETLKW, &other);
}

static void *waits(void *wait)
{
    pthread_cleanup_push(clean, NULL);
    ((void (*)(void))wait)();
    pthread_cleanup_pop(0);
    return NULL;
}

static void cancelled(const char *name, void (*wait)(void))
{
    pthread_t thread;
    void *result;

    cleaned = 0;
    CHECK(pthread_create(&thread, NULL, waits, (void *)wait) == 0);
    sleep_ms(20);
    CHECK(pthread_cancel(thread) == 0 && pthread_join(thread, &result) == 0);
    if (result != PTHREAD_CANCELED || cleaned != 1)
        check_failed(__FILE__, cleaned, name);
}

#define CANCELLED(wait) cancelled(#wait, wait)

/* A child that holds a lock, and is there to be waited for. */
static pid_t lock_holder(void)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int file = open("cancel_in_every_wait.lock", O_CREAT | O_RDWR, 0600);
    pid_t child;

    CHECK(file >= 0);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        CHECK(fcntl(file, F_SETLK, &whole) == 0);
        for (;;)
            pause();
    }
    return child;
}

int main(void)
{
    struct mq_attr attributes = {.mq_maxmsg = 2, .mq_msgsize = 64};
    struct epoll_event event = {.events = EPOLLIN};
    pid_t child = lock_holder();

    CHECK(pipe(ends) == 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0 && sem_init(&semaphore, 0, 0) == 0);
    listener = socket(AF_INET, SOCK_STREAM, 0);
    CHECK(listener >= 0 && listen(listener, 1) == 0);
    epoll = epoll_create1(0);
    CHECK(epoll >= 0 && epoll_ctl(epoll, EPOLL_CTL_ADD, ends[0], &event) == 0);
    queue = msgget(IPC_PRIVATE, 0600);
    posix_queue = mq_open("/cancel_in_every_wait", O_CREAT | O_RDWR, 0600, &attributes);
    CHECK(queue >= 0 && posix_queue >= 0 && mq_unlink("/cancel_in_every_wait") == 0);
    CANCELLED(by_read);
    CANCELLED(by_recv);
    CANCELLED(by_accept);
    CANCELLED(by_poll);
    CANCELLED(by_select);
    CANCELLED(by_epoll);
    CANCELLED(by_sleep);
    CANCELLED(by_usleep);
    CANCELLED(by_pause);
    CANCELLED(by_sigwait);
    CANCELLED(by_semaphore);
    CANCELLED(by_condition);
    CANCELLED(by_msgrcv);
    CANCELLED(by_mq_receive);
    CANCELLED(by_wait);
    CANCELLED(by_lock);
    CHECK(msgctl(queue, IPC_RMID, NULL) == 0 && unlink("cancel_in_every_wait.lock") == 0);
    CHECK(kill(child, SIGKILL) == 0 && waitpid(child, NULL, 0) == child);
    return succeed();
}
