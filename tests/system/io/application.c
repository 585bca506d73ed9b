/* An application that computes and writes by a list of phases, as simunix/io_coordinator/periodic.py by numbers:
 *
 *     application NUMBER ALONE_NS FILE COORDINATOR PHASES
 *
 * COORDINATOR is `-` if nobody is to be asked. A line of the file PHASES: nanoseconds of computing, bytes, order. Prints NUMBER
 * and the nanoseconds that it took. */
#include "io_coordinator.h"

#include <fcntl.h>
#include <time.h>

static uint64_t now_ns(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static void check(int is_right, const char *what)
{
    if (is_right)
        return;
    perror(what);
    exit(1);
}

int main(int count, char **words)
{
    unsigned long long compute_ns, bytes;
    unsigned order;

    check(count == 6, "usage");
    unsigned number = (unsigned)atoi(words[1]);
    int fd = open(words[3], O_WRONLY | O_CREAT, 0644);
    FILE *phases = fopen(words[5], "r");
    struct io_coordinated io;
    uint64_t begin_ns = now_ns();

    check(fd >= 0, words[3]);
    check(phases != NULL, words[5]);
    check(io_connect(&io, strcmp(words[4], "-") == 0 ? NULL : words[4], number, strtoull(words[2], NULL, 10), NULL) == 0,
          "io_connect");
    while (fscanf(phases, "%llu %llu %u", &compute_ns, &bytes, &order) == 3) {
        struct timespec compute = {(time_t)(compute_ns / 1000000000), (long)(compute_ns % 1000000000)};
        char *data = calloc(1, bytes + 1);

        if (compute_ns != 0)
            nanosleep(&compute, NULL);
        if (bytes != 0) {
            check(io_begin(&io, bytes, order) == 0, "io_begin");
            check(pwrite(fd, data, bytes, 0) == (ssize_t)bytes, "pwrite");
            check(io_end(&io) == 0, "io_end");
        }
        free(data);
    }
    printf("%u %llu\n", number, (unsigned long long)(now_ns() - begin_ns));
    return 0;
}
