/* Everything at once, for tests of determinism: `mixed server` on one host, `mixed client HOST` on another.
 *
 * The client forks, each child has threads, each thread has a connection; between messages they sleep for random times, take
 * turns at a mutex and a condition, are interrupted by interval timers, and send datagrams. The server hands its connections to
 * worker threads, which let forked children answer through pipes, and tells them of their end by SIGCHLD; a POSIX timer, a
 * timerfd and an eventfd are waited for in one epoll. At the end both print what they have counted. */
#define _GNU_SOURCE
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "moments.h"

enum { PORT = 7000, CHILDREN = 3, THREADS = 3, MESSAGES = 4, CONNECTIONS = CHILDREN * THREADS, WORKERS = CONNECTIONS };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static volatile sig_atomic_t alarms, children_told;

static void read_all(int fd, void *into, size_t size)
{
    for (size_t done = 0; done < size;) {
        ssize_t got = read(fd, (char *)into + done, size - done);
        CHECK(got > 0 || (got == -1 && errno == EINTR));
        done += got > 0 ? (size_t)got : 0;
    }
}

static void write_all(int fd, const void *from, size_t size)
{
    for (size_t done = 0; done < size;) {
        ssize_t put = write(fd, (const char *)from + done, size - done);
        CHECK(put > 0 || (put == -1 && errno == EINTR));
        done += put > 0 ? (size_t)put : 0;
    }
}

static void on_signal(int number)
{
    if (number == SIGALRM)
        alarms++;
    else
        children_told++;
}

static void handle(int number)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};

    CHECK(sigaction(number, &action, NULL) == 0);
}

static uint64_t sum_of(const unsigned char *bytes, uint32_t size)
{
    uint64_t sum = 5381;

    for (uint32_t at = 0; at < size; at++)
        sum = sum * 33 + bytes[at];
    return sum;
}

/* Server */

static int queue[CONNECTIONS], queued, taken, answered, ticks, datagrams;
static int finished; /* an eventfd */

/* A forked child computes the answer and says it through a pipe; a random sleep decides when. */
static uint64_t answer_by_child(const unsigned char *bytes, uint32_t size)
{
    int ends[2];
    uint64_t sum;
    pid_t child;
    int status;

    CHECK(pipe(ends) == 0);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        sleep_us(random_below(3000));
        sum = sum_of(bytes, size);
        write_all(ends[1], &sum, sizeof sum);
        _exit(7);
    }
    close(ends[1]);
    read_all(ends[0], &sum, sizeof sum);
    close(ends[0]);
    while (waitpid(child, &status, 0) == -1)
        CHECK(errno == EINTR);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
    return sum;
}

static void serve(int peer)
{
    unsigned char bytes[8192];
    uint32_t size;
    uint64_t sum;

    for (int message = 0; message < MESSAGES; message++) {
        read_all(peer, &size, sizeof size);
        CHECK(size <= sizeof bytes);
        read_all(peer, bytes, size);
        sum = answer_by_child(bytes, size);
        write_all(peer, &sum, sizeof sum);
        pthread_mutex_lock(&lock);
        answered++;
        pthread_mutex_unlock(&lock);
    }
    close(peer);
}

static void *work(void *unused)
{
    uint64_t one = 1;
    int peer;

    for (;;) {
        pthread_mutex_lock(&lock);
        while (taken == queued && taken < CONNECTIONS)
            pthread_cond_wait(&changed, &lock);
        peer = taken < CONNECTIONS ? queue[taken++] : -1;
        pthread_cond_broadcast(&changed);
        pthread_mutex_unlock(&lock);
        if (peer < 0)
            break;
        serve(peer);
        write_all(finished, &one, sizeof one);
    }
    return unused;
}

static int bound(int type)
{
    struct sockaddr_in here = {.sin_family = AF_INET, .sin_port = htons(PORT)};
    int fd = socket(AF_INET, type, 0), one = 1;

    CHECK(setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) == 0);
    CHECK(bind(fd, (struct sockaddr *)&here, sizeof here) == 0);
    return fd;
}

static void watch(int epoll, int fd)
{
    struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};

    CHECK(epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) == 0);
}

static void start_timers(int *timer_fd)
{
    struct itimerspec every = {{0, 7000000}, {0, 7000000}};
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM};
    timer_t timer;

    CHECK(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
    CHECK(timer_settime(timer, 0, &every, NULL) == 0);
    *timer_fd = timerfd_create(CLOCK_MONOTONIC, 0);
    CHECK(timerfd_settime(*timer_fd, 0, &every, NULL) == 0);
}

static void take(int listener)
{
    pthread_mutex_lock(&lock);
    queue[queued] = accept(listener, NULL, NULL);
    CHECK(queue[queued] >= 0);
    queued++;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

static int server(void)
{
    int epoll = epoll_create1(0), listener = bound(SOCK_STREAM), datagram = bound(SOCK_DGRAM), timer, served = 0;
    struct epoll_event events[4];
    pthread_t workers[WORKERS];
    uint64_t count;

    finished = eventfd(0, 0);
    CHECK(listen(listener, CONNECTIONS) == 0);
    handle(SIGCHLD);
    handle(SIGALRM);
    start_timers(&timer);
    watch(epoll, listener), watch(epoll, datagram), watch(epoll, timer), watch(epoll, finished);
    for (int index = 0; index < WORKERS; index++)
        CHECK(pthread_create(&workers[index], NULL, work, NULL) == 0);
    while (served < CONNECTIONS || datagrams < CONNECTIONS) {
        int ready = epoll_wait(epoll, events, 4, 10000);
        CHECK(ready > 0 || (ready == -1 && errno == EINTR));
        for (int index = 0; index < ready; index++) {
            int fd = events[index].data.fd;
            if (fd == listener) {
                take(listener);
            } else {
                CHECK(read(fd, &count, sizeof count) == sizeof count);
                served += fd == finished ? (int)count : 0;
                ticks += fd == timer ? (int)count : 0;
                datagrams += fd == datagram;
            }
        }
    }
    for (int index = 0; index < WORKERS; index++)
        pthread_join(workers[index], NULL);
    CHECK(answered == CONNECTIONS * MESSAGES && children_told > 0 && alarms > 0 && ticks > 0);
    printf("answered %d, datagrams %d, told of children %d, alarms %d, ticks %d\n", answered, datagrams, children_told,
           alarms, ticks);
    return 0;
}

/* Client */

static struct sockaddr_in peer_address;
static int turn_of, sent_bytes;

static void *talk(void *argument)
{
    int number = (int)(intptr_t)argument;
    int fd = socket(AF_INET, SOCK_STREAM, 0), datagram = socket(AF_INET, SOCK_DGRAM, 0);
    unsigned char bytes[8192];
    uint64_t sum, word = 1;

    sleep_us(random_below(5000));
    CHECK(connect(fd, (struct sockaddr *)&peer_address, sizeof peer_address) == 0);
    for (int message = 0; message < MESSAGES; message++) {
        uint32_t size = 1 + random_below(sizeof bytes);
        CHECK(getrandom(bytes, size < 256 ? size : 256, 0) > 0);
        memset(bytes + (size < 256 ? size : 256), message, size < 256 ? 0 : size - 256);
        write_all(fd, &size, sizeof size);
        write_all(fd, bytes, size);
        read_all(fd, &sum, sizeof sum);
        CHECK(sum == sum_of(bytes, size));
        pthread_mutex_lock(&lock); /* the threads take turns, in the order of their numbers */
        while (turn_of != number)
            pthread_cond_wait(&changed, &lock);
        turn_of = (turn_of + 1) % THREADS;
        sent_bytes += size;
        pthread_cond_broadcast(&changed);
        pthread_mutex_unlock(&lock);
        sleep_us(random_below(2000));
    }
    CHECK(sendto(datagram, &word, sizeof word, 0, (struct sockaddr *)&peer_address, sizeof peer_address) == sizeof word);
    close(datagram);
    close(fd);
    return NULL;
}

/* Says what it has sent through the pipe, and ends by the parent's signal, once that has come. */
static void child(int to_parent)
{
    struct itimerval every = {{0, 3000}, {0, 3000}};
    pthread_t threads[THREADS];
    sigset_t awaited;
    int number;

    sigemptyset(&awaited);
    sigaddset(&awaited, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &awaited, NULL);
    handle(SIGALRM);
    CHECK(setitimer(ITIMER_REAL, &every, NULL) == 0);
    for (int index = 0; index < THREADS; index++)
        CHECK(pthread_create(&threads[index], NULL, talk, (void *)(intptr_t)index) == 0);
    for (int index = 0; index < THREADS; index++)
        CHECK(pthread_join(threads[index], NULL) == 0);
    CHECK(alarms > 0);
    write_all(to_parent, &sent_bytes, sizeof sent_bytes);
    CHECK(sigwait(&awaited, &number) == 0 && number == SIGUSR1);
    _exit(0);
}

static int client(const char *host)
{
    struct addrinfo *found, hints = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM};
    int ends[2], total = 0, one, status;
    pid_t children[CHILDREN];

    CHECK(getaddrinfo(host, "7000", &hints, &found) == 0);
    memcpy(&peer_address, found->ai_addr, sizeof peer_address);
    freeaddrinfo(found);
    CHECK(pipe(ends) == 0);
    for (int index = 0; index < CHILDREN; index++) {
        children[index] = fork();
        CHECK(children[index] >= 0);
        if (children[index] == 0)
            child(ends[1]);
    }
    close(ends[1]);
    for (int index = 0; index < CHILDREN; index++) {
        read_all(ends[0], &one, sizeof one);
        total += one;
    }
    for (int index = CHILDREN - 1; index >= 0; index--) {
        CHECK(kill(children[index], SIGUSR1) == 0);
        CHECK(waitpid(children[index], &status, 0) == children[index]);
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    printf("sent %d bytes\n", total);
    return 0;
}

int main(int count, char **words)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    return count > 2 ? client(words[2]) : server();
}
