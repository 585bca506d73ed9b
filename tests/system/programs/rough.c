/* Deaths, stops and locks, for tests of determinism: what the kernel decides by itself must not decide anything here.
 *
 * Children with threads that wait, sleep and spin are killed, exit or exec at random moments while they write into a pipe; others
 * contend for a lock in shared memory and for a file's lock, are stopped and continued, pass descriptors and leave orphans.
 * Every line printed, with its moment, depends on who came when. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "moments.h"

enum { ROUNDS = 4, CHILDREN = 4 };

struct shared {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int turns, waiting;
    char order[256];
};

static char self[4096]; /* not /proc/self/exe: that is gone once the main thread has ended */

/* A child with threads, and its death */

static int into, from; /* a pipe's ends */

static void *writes(void *unused)
{
    char many[1500] = "";

    for (;;) {
        CHECK(write(into, many, 1 + random_below(sizeof many)) > 0);
        if (random_below(4) == 0)
            sleep_us(random_below(200));
    }
    return unused;
}

static void *waits(void *unused)
{
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

    pthread_mutex_lock(&lock);
    pthread_mutex_lock(&lock); /* for ever */
    return unused;
}

static void *spins(void *unused)
{
    for (;;)
        sched_yield();
    return unused;
}

static void *ends(void *round)
{
    char *words[] = {self, "echo", "from the exec", NULL};

    sleep_us(random_below(3000));
    if ((intptr_t)round % 4 == 0)
        exit(3);
    if ((intptr_t)round % 4 == 1)
        execv(self, words);
    sleep_us(1000000000);
    return NULL;
}

static void live(int round)
{
    void *(*bodies[])(void *) = {writes, waits, spins, ends, writes};
    pthread_t thread;

    close(from);
    for (size_t index = 0; index < sizeof bodies / sizeof *bodies; index++)
        CHECK(pthread_create(&thread, NULL, bodies[index], (void *)(intptr_t)round) == 0);
    if (round % 2)
        pthread_exit(NULL);
    for (;;)
        pause();
}

static void deaths(int round)
{
    int pipe_ends[2], status;
    char bytes[4096];
    long total = 0, got;
    pid_t child;

    CHECK(pipe(pipe_ends) == 0);
    from = pipe_ends[0], into = pipe_ends[1];
    child = fork();
    CHECK(child >= 0);
    if (child == 0)
        live(round);
    close(into);
    sleep_us(random_below(2000));
    if (round % 4 >= 2)
        CHECK(kill(child, round % 4 == 2 ? SIGKILL : SIGTERM) == 0);
    while ((got = read(from, bytes, sizeof bytes)) > 0)
        total += got;
    CHECK(waitpid(child, &status, 0) == child);
    close(from);
    printf("%ld round %d: %ld bytes, status %#x\n", now_us(), round, total, status);
}

/* Locks between processes */

static struct shared *make_shared(void)
{
    struct shared *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pthread_mutexattr_t mutex;
    pthread_condattr_t condition;

    pthread_mutexattr_init(&mutex), pthread_condattr_init(&condition);
    pthread_mutexattr_setpshared(&mutex, PTHREAD_PROCESS_SHARED);
    pthread_condattr_setpshared(&condition, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(&shared->lock, &mutex), pthread_cond_init(&shared->changed, &condition);
    return shared;
}

static void contend(struct shared *shared, char name, int file)
{
    for (int turn = 0; turn < 5; turn++) {
        sleep_us(random_below(300));
        CHECK(flock(file, LOCK_EX) == 0);
        sleep_us(random_below(100));
        CHECK(flock(file, LOCK_UN) == 0);
        pthread_mutex_lock(&shared->lock);
        shared->order[shared->turns++] = name;
        if (++shared->waiting == CHILDREN) {
            shared->waiting = 0;
            pthread_cond_broadcast(&shared->changed);
        } else {
            pthread_cond_wait(&shared->changed, &shared->lock);
        }
        pthread_mutex_unlock(&shared->lock);
    }
    _exit(0);
}

static void locks(int round)
{
    struct shared *shared = make_shared();
    int status, file;

    CHECK(close(open("lock", O_CREAT | O_RDWR, 0600)) == 0);
    for (int index = 0; index < CHILDREN; index++) {
        if (fork() == 0) {
            file = open("lock", O_RDWR); /* an open of one's own, or the lock would be shared */
            contend(shared, 'a' + index, file);
        }
    }
    for (int index = 0; index < CHILDREN; index++)
        CHECK(wait(&status) > 0 && status == 0);
    printf("%ld round %d: order %s\n", now_us(), round, shared->order);
    munmap(shared, sizeof *shared);
}

/* Stops, passed descriptors, orphans */

static void pass(int channel, int fd)
{
    char space[CMSG_SPACE(sizeof fd)] = "", byte = 'x';
    struct iovec data = {&byte, 1};
    struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1, .msg_control = space, .msg_controllen = sizeof space};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);

    header->cmsg_level = SOL_SOCKET, header->cmsg_type = SCM_RIGHTS, header->cmsg_len = CMSG_LEN(sizeof fd);
    memcpy(CMSG_DATA(header), &fd, sizeof fd);
    CHECK(sendmsg(channel, &message, 0) == 1);
}

static int passed(int channel)
{
    char space[CMSG_SPACE(sizeof(int))], byte;
    struct iovec data = {&byte, 1};
    struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1, .msg_control = space, .msg_controllen = sizeof space};
    int fd;

    CHECK(recvmsg(channel, &message, 0) == 1);
    memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof fd);
    return fd;
}

/* The child passes a pipe's end on, leaves a grandchild that writes into it, and dies. */
static void orphans(int round)
{
    int pair[2], pipe_ends[2], fd, count = 0;
    char byte;

    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
    if (fork() == 0) {
        CHECK(pipe(pipe_ends) == 0);
        pass(pair[1], pipe_ends[0]);
        if (fork() == 0) {
            for (int index = 0; index < 20; index++) {
                sleep_us(random_below(400));
                CHECK(write(pipe_ends[1], "x", 1) == 1);
            }
            _exit(0);
        }
        kill(getpid(), SIGKILL);
    }
    close(pair[1]);
    fd = passed(pair[0]);
    CHECK(read(pair[0], &byte, 1) <= 0 || errno == ECONNRESET);
    while (read(fd, &byte, 1) == 1)
        count++;
    CHECK(wait(NULL) > 0);
    close(fd), close(pair[0]);
    printf("%ld round %d: %d bytes of an orphan\n", now_us(), round, count);
}

static void stops(int round)
{
    int pipe_ends[2], status;
    long total = 0, got;
    char bytes[64];
    pid_t child;

    CHECK(pipe(pipe_ends) == 0);
    child = fork();
    if (child == 0) {
        for (int index = 0; index < 30; index++) {
            CHECK(write(pipe_ends[1], "tick", 4) == 4);
            sleep_us(random_below(200));
        }
        _exit(0);
    }
    close(pipe_ends[1]);
    for (int index = 0; index < 4; index++) {
        sleep_us(random_below(500));
        CHECK(kill(child, SIGSTOP) == 0);
        CHECK(waitpid(child, &status, WUNTRACED) == child);
        if (WIFEXITED(status))
            break;
        got = read(pipe_ends[0], bytes, sizeof bytes - random_below(60));
        sleep_us(random_below(500));
        CHECK(got > 0 && kill(child, SIGCONT) == 0);
        total += got;
    }
    while ((got = read(pipe_ends[0], bytes, sizeof bytes)) > 0)
        total += got;
    waitpid(child, &status, 0);
    close(pipe_ends[0]);
    printf("%ld round %d: %ld bytes between stops, status %#x\n", now_us(), round, total, status);
}

static void spawns(int round)
{
    char *words[] = {self, "echo", "spawned", NULL};
    pid_t children[CHILDREN];
    int status;

    fflush(stdout);
    for (int index = 0; index < CHILDREN; index++)
        CHECK(posix_spawn(&children[index], self, NULL, NULL, words, NULL) == 0);
    for (int index = 0; index < CHILDREN; index++)
        CHECK(wait(&status) > 0 && status == 0);
    printf("%ld round %d: spawned\n", now_us(), round);
}

int main(int count, char **words)
{
    void (*parts[])(int) = {deaths, locks, orphans, stops, spawns};

    CHECK(readlink("/proc/self/exe", self, sizeof self - 1) > 0);
    if (count == 3) {
        sleep_us(random_below(1000));
        printf("%s: %ld, pid %d\n", words[2], now_us(), getpid());
        return 0;
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (int round = 0; round < ROUNDS; round++)
        for (size_t part = 0; part < sizeof parts / sizeof *parts; part++)
            parts[part](round);
    return 0;
}
