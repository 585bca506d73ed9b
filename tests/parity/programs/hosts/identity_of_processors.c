// The number of processors online, by sysconf, affinity, nproc and /proc, is one number.
#include "check.h"

#include <sched.h>
#include <sys/sysinfo.h>

int main(void)
{
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    char line[50] = "";
    cpu_set_t set;
    FILE *stream;
    unsigned cpu;

    CHECK(online >= 1);
    CHECK(sched_getaffinity(0, sizeof set, &set) == 0);
    CHECK(CPU_COUNT(&set) == online);
    CHECK(get_nprocs() == online);
    CHECK(sysconf(_SC_NPROCESSORS_CONF) >= online);
    stream = popen("nproc", "r");
    CHECK(stream != NULL && fgets(line, sizeof line, stream) != NULL && pclose(stream) == 0);
    CHECK(atol(line) == online);
    CHECK(getcpu(&cpu, NULL) == 0 && CPU_ISSET(cpu, &set));
    CPU_ZERO(&set);
    CPU_SET(0, &set);
    CHECK(sched_setaffinity(0, sizeof set, &set) == 0);
    CHECK(sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) == 1);
    return succeed();
}
