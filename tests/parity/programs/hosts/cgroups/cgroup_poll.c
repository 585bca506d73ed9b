// poll(2) of cgroup.events: urgent news, with an error, once the file says something else than has been read; inotify(7) beside it.
#include "cgroups.h"
#include "expect.h"

#include <poll.h>
#include <pthread.h>
#include <sys/inotify.h>

#define NEWS (POLLPRI | POLLERR)

static int events;
static int number_of_reads;

static int polled(int timeout_ms)
{
    struct pollfd entry = {.fd = events, .events = POLLPRI};
    int count = poll(&entry, 1, timeout_ms);

    return count < 0 ? -errno : count == 0 ? 0 : entry.revents;
}

static void read_again(void)
{
    char text[64];

    number_of_reads++;
    if (number_of_reads % 2 == 0) {
        EXPECT(pread(events, text, sizeof text, 0) > 0, 1);
    } else {
        EXPECT(lseek(events, 0, SEEK_SET), 0);
        EXPECT(read(events, text, sizeof text) > 0, 1);
    }
}

static void *freeze_later(void *value)
{
    sleep_ms(200);
    EXPECT(put(in("cgroup.freeze"), value), 0);
    return NULL;
}

/* A wait ends when something changes, and not before. */
static void waits(void)
{
    pthread_t thread;
    static char *const values[] = {"1", "0", "1", "0"};

    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        CHECK(pthread_create(&thread, NULL, freeze_later, values[i]) == 0);
        EXPECT(polled(10000), NEWS);
        CHECK(pthread_join(thread, NULL) == 0);
        read_again();
        EXPECT(polled(0), 0);
    }
}

static void both_kinds(void)
{
    struct pollfd entry = {.fd = events, .events = POLLIN | POLLPRI};
    char notice[4096];
    int watch = inotify_init1(IN_NONBLOCK);

    CHECK(watch >= 0 && inotify_add_watch(watch, in("cgroup.events"), IN_MODIFY) >= 0);
    EXPECT(poll(&entry, 1, -1), 1);
    EXPECT(entry.revents, POLLIN);
    EXPECT(put(in("cgroup.freeze"), "1"), 0);
    EXPECT(polled(10000), NEWS);
    EXPECT(poll(&entry, 1, -1), 1);
    EXPECT(entry.revents, POLLIN | NEWS);
    entry.events = POLLPRI;
    entry.fd = watch;
    EXPECT(poll(&entry, 1, 0), 0);
    EXPECT(read(watch, notice, sizeof notice) > 0, 1);
    close(watch);
    EXPECT(put(in("cgroup.freeze"), "0"), 0);
}

int main(void)
{
    struct pollfd other;
    char text[64];

    begin_group("poll");
    events = open(in("cgroup.events"), O_RDONLY);
    CHECK(events >= 0);
    EXPECT(polled(0), NEWS); /* nothing has been read */
    EXPECT(read(events, text, sizeof text) > 0, 1);
    EXPECT(polled(0), 0);
    EXPECT(polled(50), 0);
    waits();
    both_kinds();
    other = (struct pollfd){.fd = open(in("cgroup.type"), O_RDONLY), .events = POLLPRI | POLLIN};
    EXPECT(read(other.fd, text, sizeof text) > 0, 1);
    EXPECT(poll(&other, 1, 0), 1);
    EXPECT(other.revents, POLLIN); /* nothing tells of its changes */
    close(other.fd);
    close(events);
    EXPECT(rmdir(group), 0);
    CHECK(problems == 0);
    return succeed();
}
