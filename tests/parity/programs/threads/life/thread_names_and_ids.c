// Thread ids differ, main's is the pid, and a thread's name can be set and read.
#include "check.h"

#include <pthread.h>

static pid_t other;

static void *worker(void *unused)
{
    char name[16];

    other = gettid();
    CHECK(pthread_setname_np(pthread_self(), "worker") == 0);
    CHECK(pthread_getname_np(pthread_self(), name, sizeof name) == 0 && strcmp(name, "worker") == 0);
    return unused;
}

int main(void)
{
    pthread_t thread;

    CHECK(gettid() == getpid());
    CHECK(pthread_create(&thread, NULL, worker, NULL) == 0 && pthread_join(thread, NULL) == 0);
    CHECK(other != gettid() && other > 0);
    return succeed();
}
