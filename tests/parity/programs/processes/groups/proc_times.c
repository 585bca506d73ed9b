// /proc/stat and /proc/PID/stat tell when the host was booted and when a process began, in agreement with the clocks.
// virtual: 20
#include "check.h"

static char text[65536];

static const char *read_file(const char *path)
{
    int fd = open(path, O_RDONLY);
    ssize_t size = 0, part;

    CHECK(fd >= 0);
    while ((part = read(fd, text + size, sizeof text - 1 - (size_t)size)) > 0)
        size += part;
    text[size] = '\0';
    CHECK(close(fd) == 0);
    return text;
}

static int64_t boot_s(void)
{
    const char *line = strstr(read_file("/proc/stat"), "\nbtime ");

    CHECK(line != NULL);
    return atoll(line + 7);
}

/* Field 22 of the line, the name being field 2. */
static int64_t start_s(const char *path)
{
    char *field = strrchr((char *)read_file(path), ')');

    CHECK(field != NULL);
    for (int i = 2; i < 22; i++) {
        field = strchr(field + 1, ' ');
        CHECK(field != NULL);
    }
    return atoll(field + 1) / sysconf(_SC_CLK_TCK);
}

/* What all processors have done or not done. */
static long all_ticks(FILE *file)
{
    long ticks[5];

    CHECK(fscanf(file, "cpu %ld %ld %ld %ld %ld", &ticks[0], &ticks[1], &ticks[2], &ticks[3], &ticks[4]) == 5);
    return ticks[0] + ticks[1] + ticks[2] + ticks[3] + ticks[4];
}

static int close_to(int64_t one, int64_t other)
{
    return one - other <= 1 && other - one <= 1;
}

int main(void)
{
    int64_t now_s = clock_ns(CLOCK_BOOTTIME) / 1000000000;
    char path[64];
    pid_t child;
    FILE *stat;
    long before;

    CHECK(close_to(boot_s() + now_s, time(NULL)));
    CHECK(close_to(start_s("/proc/self/stat"), now_s) && close_to(start_s("/proc/thread-self/stat"), now_s));
    CHECK(sleep(10) == 0 && close_to(start_s("/proc/self/stat"), now_s));
    CHECK((child = fork()) >= 0);
    if (child == 0) {
        sleep_ms(1000);
        _exit(0);
    }
    snprintf(path, sizeof path, "/proc/%d/stat", (int)child);
    CHECK(close_to(start_s(path), now_s + 10));
    CHECK_CHILD(child);
    stat = fopen("/proc/stat", "r");
    CHECK(stat != NULL);
    before = all_ticks(stat);
    CHECK(sleep(9) == 0);
    rewind(stat);
    CHECK(all_ticks(stat) >= before + 8 * sysconf(_SC_CLK_TCK));
    return succeed();
}
