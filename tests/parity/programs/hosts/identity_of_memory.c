// The size of the memory, by sysinfo and by sysconf, is one number.
#include "check.h"

#include <sys/sysinfo.h>

int main(void)
{
    struct sysinfo info;
    long page = sysconf(_SC_PAGESIZE);
    int64_t total_bytes;

    CHECK(page == 4096);
    CHECK(sysinfo(&info) == 0);
    total_bytes = (int64_t)info.totalram * info.mem_unit;
    CHECK(total_bytes > 0);
    CHECK(llabs((int64_t)sysconf(_SC_PHYS_PAGES) * page - total_bytes) <= page);
    CHECK(sysconf(_SC_AVPHYS_PAGES) > 0);
    return succeed();
}
