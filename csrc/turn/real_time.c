/* Reads the real clock. The function is alone in this file, since libc's <time.h> and the kernel's headers define equal
 * names. */
#include "turn/real_time.h"

#include <time.h>

int64_t real_time_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}
