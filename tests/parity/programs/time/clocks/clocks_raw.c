// The gettimeofday and time system calls themselves, which the vDSO usually answers, agree with clock_gettime.
#include "check.h"

#include <sys/syscall.h>
#include <sys/time.h>

int main(void)
{
    int64_t real_ns = clock_ns(CLOCK_REALTIME);
    struct timeval now;
    time_t seconds;

    sleep_ms(20);
    CHECK(syscall(SYS_gettimeofday, &now, NULL) == 0);
    CHECK(now.tv_sec * INT64_C(1000000000) + now.tv_usec * 1000 >= real_ns + 19 * MS);
    CHECK(now.tv_sec * INT64_C(1000000000) + now.tv_usec * 1000 <= real_ns + 20 * MS + tolerance_ns());
    seconds = syscall(SYS_time, NULL);
    CHECK(seconds == now.tv_sec || seconds == now.tv_sec + 1);
    return succeed();
}
