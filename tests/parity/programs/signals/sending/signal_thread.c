// pthread_kill runs the handler in that thread, and interrupts what it waits for.
#include "check.h"

#include <pthread.h>

static volatile pid_t handled_by;
static pid_t reader_id;
static int ends[2];

static void handler(int number)
{
    CHECK(number == SIGUSR1);
    handled_by = gettid();
}

static void *reader(void *unused)
{
    char byte;

    reader_id = gettid();
    CHECK_ERRNO(read(ends[0], &byte, 1), EINTR);
    CHECK(handled_by == reader_id);
    return unused;
}

int main(void)
{
    struct sigaction action = {.sa_handler = handler};
    int64_t start_ns = now_ns();
    pthread_t thread;

    CHECK(pipe(ends) == 0 && sigaction(SIGUSR1, &action, NULL) == 0);
    CHECK(pthread_create(&thread, NULL, reader, NULL) == 0);
    sleep_ms(20);
    CHECK(pthread_kill(thread, SIGUSR1) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(handled_by == reader_id && reader_id != getpid());
    CHECK_ELAPSED(start_ns, 20);
    return succeed();
}
