// The CPU clocks of a thread and of a process can be found and read, and they never go back.
#include "check.h"

#include <pthread.h>

int main(void)
{
    clockid_t thread_clock, process_clock;
    int64_t first_ns, second_ns;

    CHECK(pthread_getcpuclockid(pthread_self(), &thread_clock) == 0);
    CHECK(clock_getcpuclockid(getpid(), &process_clock) == 0);
    first_ns = clock_ns(thread_clock);
    second_ns = clock_ns(thread_clock);
    CHECK(first_ns >= 0 && second_ns >= first_ns);
    CHECK(clock_ns(process_clock) >= 0);
    return succeed();
}
