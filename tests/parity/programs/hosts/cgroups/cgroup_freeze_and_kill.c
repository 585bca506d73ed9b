// A frozen group stands still until it is thawed; cgroup.kill ends all of it; inotify(7) tells of both.
#include "cgroups.h"

#include <poll.h>
#include <sys/inotify.h>
#include <sys/mman.h>

static volatile long *counter;

/* Two processes, one the child of the other, that count. */
static pid_t start_counting(void)
{
    pid_t child = fork();

    if (child == 0) {
        fork();
        for (;;) {
            __atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
            sleep_ms(5);
        }
    }
    return child;
}

static int told(int watch)
{
    char events[4096];
    struct pollfd entry = {.fd = watch, .events = POLLIN};

    return poll(&entry, 1, 2000) == 1 && read(watch, events, sizeof events) > 0 &&
           ((struct inotify_event *)events)->mask == IN_MODIFY;
}

int main(void)
{
    int watch = inotify_init();
    int status;
    long before;
    pid_t child;

    begin_group("freeze");
    counter = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(mkdir(in("below"), 0755) == 0);
    CHECK(inotify_add_watch(watch, in("cgroup.events"), IN_MODIFY) >= 0);
    CHECK(put(in("below/cgroup.procs"), "0") == 0);
    child = start_counting();
    CHECK(put_number(in("../cgroup.procs"), getpid()) == 0);
    CHECK(told(watch));
    CHECK(says(in("cgroup.events"), "populated 1\nfrozen 0\n"));
    sleep_ms(100);
    CHECK(*counter > 5);

    CHECK(put(in("cgroup.freeze"), "1") == 0);
    CHECK(told(watch));
    CHECK(comes_to_say(in("below/cgroup.events"), "populated 1\nfrozen 1\n"));
    CHECK(says(in("cgroup.freeze"), "1\n") && says(in("below/cgroup.freeze"), "0\n"));
    before = *counter;
    sleep_ms(100);
    CHECK(*counter == before);
    CHECK(waitpid(child, &status, WNOHANG | WUNTRACED) == 0); /* the parent sees nothing of it */
    CHECK(kill(child, SIGSTOP) == 0 && kill(child, SIGCONT) == 0);
    sleep_ms(50);
    CHECK(*counter == before);

    CHECK(put(in("cgroup.freeze"), "0") == 0);
    CHECK(told(watch));
    CHECK(says(in("below/cgroup.events"), "populated 1\nfrozen 0\n"));
    sleep_ms(100);
    CHECK(*counter > before);

    CHECK(put(in("cgroup.freeze"), "1") == 0);
    CHECK(put(in("cgroup.kill"), "1") == 0);
    CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    CHECK(comes_to_say(in("below/cgroup.events"), "populated 0\nfrozen 1\n"));
    CHECK(rmdir(in("below")) == 0 && rmdir(group) == 0);
    return succeed();
}
